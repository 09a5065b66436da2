// The articles nearest to each of some vectors, themselves left out.
// params: rows [{id, embedding}], model, k
// returns: id, other, cosine
// mode: read
UNWIND $rows AS r
CALL db.index.vector.queryNodes('research_article_embedding', $k, r.embedding) YIELD node
WITH r, node WHERE node.embedding_model = $model AND node.id <> r.id
RETURN r.id AS id, node.id AS other, 2 * vector.similarity.cosine(node.embedding, r.embedding) - 1 AS cosine
ORDER BY id, cosine DESC, other

// The concept nearest to a vector, among those of the same embedding model.
// params: embedding, model
// returns: name, cosine; no row when there is none
// mode: read
CALL db.index.vector.queryNodes('research_concept_embedding', 10, $embedding) YIELD node
WITH node WHERE node.model = $model
WITH node.name AS name, 2 * vector.similarity.cosine(node.embedding, $embedding) - 1 AS cosine
RETURN name, cosine ORDER BY cosine DESC LIMIT 1

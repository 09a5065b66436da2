// One page of articles in the order of ids, and which of them lack concepts, a vector or related links.
// params: after (id), n, model
// returns: last (id, null at the end), lacking [{id, title, abstract, arxiv_id, embedding, concepts, related}]
// mode: read
CALL () {
  MATCH (a:Article) WHERE a.id > $after
  RETURN a ORDER BY a.id LIMIT $n
}
WITH a, EXISTS { (a)-[:MENTIONS|CONTRIBUTES]->(:Concept) } AS concepts,
  EXISTS { (a)-[:RELATED_TO]-(:Article) } OR a.alone_since IS NOT NULL AS related
WITH max(a.id) AS last, collect(CASE WHEN NOT concepts OR NOT related OR a.embedding IS NULL OR a.embedding_model <> $model THEN
  {id: a.id, title: a.title, abstract: a.abstract, arxiv_id: a.arxiv_id, concepts: concepts, related: related,
   embedding: CASE WHEN a.embedding_model = $model THEN a.embedding END} END) AS lacking
RETURN last, lacking

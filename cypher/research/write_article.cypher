// Write one article and link it to what research/merge_names merged. A full text that is there is never given up.
// params: id, article {arxiv_id, version, title, abstract, url, license, categories, published, announce_type, doi, score,
//   verdict, novelty, embedding, embedding_model}, full (whether the chunks are of the full text), no_text_reason, pages,
//   source, domains [ids], authors [{id, position, affiliation}], mentions [{id, weight, in_title}], contribution (id)
// returns: id, has_full_text
// mode: write
MERGE (a:Article {id: $id})
  ON CREATE SET a.created_at = timestamp()
SET a:Document, a += $article, a.updated_at = timestamp(),
    a.no_text_reason = CASE WHEN $full OR a.has_full_text THEN NULL ELSE $no_text_reason END,
    a.pages = coalesce($pages, a.pages),
    a.has_full_text = $full OR coalesce(a.has_full_text, false)
WITH a
MATCH (s:Source {id: $source})
MERGE (a)-[:FROM_SOURCE]->(s)
WITH a
CALL (a) {
  UNWIND $domains AS id
  MATCH (d:Domain {id: id})
  MERGE (a)-[:IN_DOMAIN]->(d)
}
CALL (a) {
  UNWIND $authors AS r
  MATCH (n:Author {id: r.id})
  MERGE (a)-[w:WRITTEN_BY]->(n)
  SET w.position = r.position, w.affiliation = r.affiliation
}
CALL (a) {
  UNWIND $mentions AS r
  MATCH (c:Concept {id: r.id})
  MERGE (a)-[m:MENTIONS]->(c)
  SET m.weight = r.weight, m.in_title = r.in_title
}
CALL (a) {
  MATCH (c:Concept {id: $contribution})
  MERGE (a)-[:CONTRIBUTES]->(c)
}
RETURN a.id AS id, a.has_full_text AS has_full_text

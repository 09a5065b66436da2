// How some papers were graded, and what is in the graph of them.
// params: arxiv_ids
// returns: arxiv_id, title, verdict, score, novelty, demoted, domains, terms, prio_bucket, has_full_text (null: no article),
//   no_text_reason, pages, chunks, concepts, related
// mode: read
UNWIND $arxiv_ids AS id
MATCH (s:SeenPaper {arxiv_id: id})
OPTIONAL MATCH (a:Article {id: 'article:scholarx:arxiv-' + id})
RETURN s.arxiv_id AS arxiv_id, s.title AS title, s.verdict AS verdict, s.score AS score, s.novelty AS novelty,
  s.demoted AS demoted, s.domains AS domains, s.terms AS terms, s.prio_bucket AS prio_bucket,
  a.has_full_text AS has_full_text, a.no_text_reason AS no_text_reason, a.pages AS pages,
  CASE WHEN a IS NULL THEN 0 ELSE COUNT { (a)-[:HAS_CHUNK]->() } END AS chunks,
  CASE WHEN a IS NULL THEN 0 ELSE COUNT { (a)-[:MENTIONS|CONTRIBUTES]->() } END AS concepts,
  CASE WHEN a IS NULL THEN 0 ELSE COUNT { (a)-[:RELATED_TO]-() } END AS related
ORDER BY score DESC, arxiv_id

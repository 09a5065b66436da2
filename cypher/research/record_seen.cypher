// Record that papers were graded; the first record of a paper stands.
// params: rows [{arxiv_id, version, title, verdict, score, novelty, demoted, domains, terms, bucket, weight, fetch
//   (JSON text: payload of the fetch, only for relevant papers)}], mark (what tells this call from others)
// returns: arxiv_id, first (false: somebody graded it before, nothing was changed)
// mode: write
UNWIND $rows AS r
WITH r ORDER BY r.arxiv_id
MERGE (s:SeenPaper {arxiv_id: r.arxiv_id})
  ON CREATE SET s.version = r.version, s.title = r.title, s.verdict = r.verdict, s.score = r.score, s.novelty = r.novelty,
    s.demoted = r.demoted, s.domains = r.domains, s.terms = r.terms, s.prio_bucket = r.bucket, s.weight = r.weight,
    s.fetch = r.fetch, s.fetch_pending = CASE WHEN r.fetch IS NOT NULL THEN timestamp() END,
    s.seen_at = timestamp(), s.mark = $mark
RETURN s.arxiv_id AS arxiv_id, s.mark = $mark AS first

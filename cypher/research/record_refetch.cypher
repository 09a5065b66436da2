// Count one more attempt to fetch a paper, if nobody else counted it meanwhile.
// params: arxiv_id, refetches (as it was read)
// returns: n
// mode: write
MATCH (s:SeenPaper {arxiv_id: $arxiv_id})
SET s.lock_v = 0
WITH s WHERE s.fetch_pending IS NOT NULL AND coalesce(s.refetches, 0) = $refetches
SET s.refetches = $refetches + 1
RETURN count(s) AS n

// Relevant papers whose full text is owed and which no live task fetches, the longest owed first.
// params: space, most (refetches so far), n
// returns: arxiv_id, fetch (JSON text), prio_bucket, weight, refetches
// mode: read
MATCH (s:SeenPaper)
WHERE s.fetch_pending > 0 AND coalesce(s.refetches, 0) < $most
  AND NOT EXISTS { MATCH (:Task {live_key: 'u:' + $space + ':' + s.arxiv_id}) }
RETURN s.arxiv_id AS arxiv_id, s.fetch AS fetch, s.prio_bucket AS prio_bucket, s.weight AS weight,
  coalesce(s.refetches, 0) AS refetches
ORDER BY s.fetch_pending LIMIT $n

// Delete workers that have not said a word for longer than they asked to be kept.
// params: n
// returns: n
// mode: write
MATCH (w:Worker) WHERE w.expires_at < timestamp()
WITH w ORDER BY w.expires_at LIMIT $n
DELETE w
RETURN count(*) AS n

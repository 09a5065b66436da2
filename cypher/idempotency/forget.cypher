// Delete answers that are no longer kept.
// params: n
// returns: forgotten
// mode: write
MATCH (a:Answer) WHERE a.until < timestamp()
WITH a LIMIT $n
DELETE a
RETURN count(*) AS forgotten

// Delete answers that are no longer kept.
// params: n
// returns: forgotten
// mode: write
MATCH (a:Answer) WHERE a.until < timestamp()
WITH a LIMIT $n
WITH a.key AS key ORDER BY key
MATCH (a:Answer {key: key})
SET a.lock_v = 0
WITH a WHERE a.until < timestamp()                       // it may have been taken again while this waited
DELETE a
RETURN count(*) AS forgotten

// Give a key back: the request came to nothing that should be repeated.
// params: key, holder
// returns: dropped
// mode: write
MATCH (a:Answer {key: $key})
SET a.lock_v = 0
WITH a WHERE a.holder = $holder
DELETE a
RETURN count(*) AS dropped

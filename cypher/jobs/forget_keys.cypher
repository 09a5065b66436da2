// Delete keys whose period is over.
// params: n
// returns: n
// mode: write
MATCH (k:UniqueKey) WHERE k.until < timestamp()
WITH k ORDER BY k.until LIMIT $n
WITH k ORDER BY k.space, k.key
SET k.lock_v = 0
WITH k WHERE k.until < timestamp()
DELETE k
RETURN count(*) AS n

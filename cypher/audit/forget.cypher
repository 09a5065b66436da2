// Delete the oldest entries of the audit: those older than an age, and those beyond a number.
// params: keep_ms, most (how many may stay), n (at most so many at a time)
// returns: forgotten
// mode: write
CALL () { MATCH (x:Audit) WHERE x.uid IS NOT NULL RETURN count(x) - $most AS beyond }
CALL (beyond) {
  MATCH (a:Audit) WHERE a.uid IS NOT NULL
  WITH a ORDER BY a.uid LIMIT $n
  RETURN collect(a) AS oldest
}
WITH beyond, oldest
UNWIND range(0, size(oldest) - 1) AS place
WITH oldest[place] AS a, place, beyond
WHERE a.at < timestamp() - $keep_ms OR place < beyond
DELETE a
RETURN count(*) AS forgotten

// Give a key back at once: to any request after a refusal, to the same one where nobody knows what came of it.
// params: key, holder, refused
// returns: released
// mode: write
MATCH (a:Answer {key: $key})
SET a.lock_v = 0
WITH a WHERE a.holder = $holder
SET a.taken_until = 0, a.print = CASE WHEN $refused THEN '' ELSE a.print END
RETURN count(a) AS released

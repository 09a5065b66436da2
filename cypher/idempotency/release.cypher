// Give a key back at once: the request was refused, or nobody knows what came of it. What it did is known by its marks.
// params: key, holder
// returns: released
// mode: write
MATCH (a:Answer {key: $key})
SET a.lock_v = 0
WITH a WHERE a.holder = $holder
SET a.taken_until = 0
RETURN count(a) AS released

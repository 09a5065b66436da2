// Make the gates of concurrency keys, or change their limits: at most `limit` at a time, at most `rate` starts a period. They stay
// when nobody uses them.
// params: gates [{space, key, limit (null: none), rate (null: none), period_ms}]
// returns: n
// mode: write
UNWIND $gates AS gate
WITH gate ORDER BY gate.space, gate.key
MERGE (g:Gate {space: gate.space, key: gate.key})
SET g.limit = gate.limit, g.rate = gate.rate, g.period_ms = gate.period_ms, g.next_at = NULL, g.used_at = NULL
RETURN count(g) AS n

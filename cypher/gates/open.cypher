// Make the gates of concurrency keys, or change their limits.
// params: gates [{space, key, limit}]
// returns: n
// mode: write
UNWIND $gates AS gate
WITH gate ORDER BY gate.space, gate.key
MERGE (g:Gate {space: gate.space, key: gate.key})
SET g.limit = gate.limit
RETURN count(g) AS n

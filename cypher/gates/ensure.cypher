// Make gates that are missing, before tasks are enqueued at them. Those of a type get the limits that the type has now.
// params: gates [{space, key, limit, rate, period_ms, typed}]
// returns: key, used_at (null: it stays)
// mode: write
UNWIND $gates AS gate
WITH gate ORDER BY gate.space, gate.key
MERGE (g:Gate {space: gate.space, key: gate.key})
  ON CREATE SET g.limit = gate.limit, g.rate = gate.rate, g.period_ms = gate.period_ms, g.used_at = 0
SET g.lock_v = 0
WITH g, gate, g.used_at AS used
SET g.used_at = CASE WHEN used IS NOT NULL THEN timestamp() END      // null: a person set it, so it stays
WITH g, gate, gate.typed AND (coalesce(g.limit, 0) <> coalesce(gate.limit, 0) OR coalesce(g.rate, 0) <> coalesce(gate.rate, 0)
  OR coalesce(g.period_ms, 0) <> coalesce(gate.period_ms, 0)) AS changed
CALL (g, gate, changed) {
  WITH g, gate WHERE changed
  SET g.limit = gate.limit, g.rate = gate.rate, g.period_ms = gate.period_ms, g.next_at = NULL
}
RETURN g.key AS key, g.used_at AS used_at

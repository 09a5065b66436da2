// Make pending what is due. Again at once while n rows come back.
// params: n
// returns: n, gates [[space, key]] to admit
// mode: write
MATCH (t:Task) WHERE t.due_at <= timestamp()
WITH t ORDER BY t.due_at LIMIT $n
WITH t ORDER BY t.uid
SET t.lock_v = 0
WITH t WHERE t.status = 'scheduled' AND t.due_at <= timestamp()
SET t.status = 'pending', t.due_at = NULL,
    t.ready = CASE WHEN t.gate IS NULL THEN t.prio_bucket END,
    t.gate_waiting = t.gate
RETURN count(t) AS n, collect(DISTINCT CASE WHEN t.gate IS NOT NULL THEN [t.space, t.gate] END) AS gates

// Safety net: blocked tasks whose count is not the number of their unmet edges. Looks at met, never at what is waited for.
// params: n
// returns: healed [[uid, status]], gates [[space, key]] to admit
// mode: write
MATCH (t:Task) WHERE t.deps_left >= 0 AND t.unsettled IS NULL AND t.deps_left <> COUNT { (t)-[:DEPENDS_ON {met: false}]->() }
WITH t LIMIT $n
WITH t ORDER BY t.uid
SET t.lock_v = 0
WITH t, COUNT { (t)-[:DEPENDS_ON {met: false}]->() } AS unmet, t.deps_left AS counted, timestamp() AS now
WHERE t.status = 'blocked' AND t.unsettled IS NULL AND counted <> unmet
WITH t, unmet, CASE WHEN unmet > 0 THEN 'blocked' WHEN t.eta > now THEN 'scheduled' ELSE 'pending' END AS status
SET t.status = status, t.deps_left = CASE WHEN unmet > 0 THEN unmet END,
    t.due_at = CASE WHEN status = 'scheduled' THEN t.eta END,
    t.ready = CASE WHEN status = 'pending' AND t.gate IS NULL THEN t.prio_bucket END,
    t.gate_waiting = CASE WHEN status = 'pending' THEN t.gate END
RETURN collect([t.uid, status]) AS healed, collect(DISTINCT CASE WHEN status = 'pending' AND t.gate IS NOT NULL THEN [t.space, t.gate] END) AS gates

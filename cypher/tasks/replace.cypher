// Put another payload, priority, gate and time into tasks that were never claimed and wait for nothing.
// params: rows [{uid (of the task), type, payload, prio_bucket, weight, eta | delay_ms, max_attempts, source, gate}]
// returns: uid, id, status, freed [space, key] of the gate that it had, or null
//   (no row: it was claimed, waits for others, has another type, or is over)
// mode: write
UNWIND $rows AS r
MATCH (t:Task {uid: r.uid})
WITH t, r ORDER BY t.uid
SET t.lock_v = 0
WITH t, r, timestamp() AS now, t.rank % 10000000000000000 AS arrived, t.gate AS old, CASE WHEN t.gate = r.gate THEN t.gate_held END AS held
WHERE t.status IN ['pending', 'scheduled'] AND t.claims = 0 AND t.type = r.type
WITH t, r, now, arrived, old, held, r.gate AS gate, coalesce(r.eta, now + r.delay_ms) AS eta
SET t.payload = r.payload, t.prio_bucket = r.prio_bucket, t.weight = r.weight, t.rank = (400 - r.weight) * 10000000000000000 + arrived,
    t.eta = eta, t.max_attempts = r.max_attempts, t.source = r.source, t.gate = gate, t.replaced_at = now,
    t.status = CASE WHEN eta > now THEN 'scheduled' ELSE 'pending' END,
    t.due_at = CASE WHEN eta > now THEN eta END,
    t.ready = CASE WHEN eta > now OR gate IS NOT NULL AND held IS NULL THEN NULL ELSE r.prio_bucket END,
    t.gate_waiting = CASE WHEN eta > now OR held IS NOT NULL THEN NULL ELSE gate END,
    t.gate_held = CASE WHEN eta > now THEN NULL ELSE held END
RETURN t.uid AS uid, t.id AS id, t.status AS status, CASE WHEN old IS NOT NULL THEN [t.space, old] END AS freed

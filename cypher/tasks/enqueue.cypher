// Enqueue tasks that wait for nothing. The gates of gated rows are open already (gates/open).
// params: rows [{uid, id, space, type, lane, prio_bucket, weight, eta | delay_ms, payload, max_attempts, source, key, gate, trace}]
// returns: scheduled (uids of those that are not due yet); a uid, id or live key that exists already refuses the whole batch
// mode: write
UNWIND range(0, size($rows) - 1) AS place
WITH $rows[place] AS r, place, timestamp() AS now
WITH r, place, now, coalesce(r.eta, now + r.delay_ms) AS eta
CREATE (t:Task {uid: r.uid, id: coalesce(r.id, r.uid), space: r.space, type: r.type, lane: r.lane,
  prio_bucket: r.prio_bucket, weight: r.weight, rank: (400 - r.weight) * 10000000000000000 + now * 1000 + place,
  payload: r.payload, source: r.source, gate: r.gate, trace: r.trace, eta: eta, key: r.key,
  live_key: CASE WHEN r.key IS NOT NULL THEN 'u:' + r.space + ':' + r.key END,
  attempts: 0, claims: 0, max_attempts: r.max_attempts, enqueued_at: now, lock_v: 0,
  status: CASE WHEN eta > now THEN 'scheduled' ELSE 'pending' END,
  due_at: CASE WHEN eta > now THEN eta END,
  ready: CASE WHEN eta > now OR r.gate IS NOT NULL THEN NULL ELSE r.prio_bucket END,
  gate_waiting: CASE WHEN eta > now THEN NULL ELSE r.gate END})
RETURN collect(CASE WHEN t.due_at IS NOT NULL THEN t.uid END) AS scheduled

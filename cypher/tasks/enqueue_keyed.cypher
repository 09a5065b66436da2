// Enqueue tasks that have a key: at most one task of a space and key is live.
// params: rows [as tasks/enqueue]
// returns: asked (uid of the row), uid, id, status, answer (created | existing | conflict: the live one has another type or
//   payload | retry: the live one ended while this waited for it, so send the row again)
// mode: write
UNWIND range(0, size($rows) - 1) AS place
WITH $rows[place] AS r, place, timestamp() AS now
WITH r, place, now, coalesce(r.eta, now + r.delay_ms) AS eta
WITH r, place, now, eta, 'u:' + r.space + ':' + r.key AS live_key ORDER BY live_key, r.uid
MERGE (t:Task {live_key: live_key})
  ON CREATE SET t.uid = r.uid, t.id = coalesce(r.id, r.uid), t.space = r.space, t.type = r.type, t.lane = r.lane, t.key = r.key,
    t.prio_bucket = r.prio_bucket, t.weight = r.weight, t.rank = (400 - r.weight) * 10000000000000000 + now * 1000 + place,
    t.payload = r.payload, t.source = r.source, t.gate = r.gate, t.trace = r.trace, t.eta = eta,
    t.attempts = 0, t.claims = 0, t.max_attempts = r.max_attempts, t.enqueued_at = now,
    t.status = CASE WHEN eta > now THEN 'scheduled' ELSE 'pending' END,
    t.due_at = CASE WHEN eta > now THEN eta END,
    t.ready = CASE WHEN eta > now OR r.gate IS NOT NULL THEN NULL ELSE r.prio_bucket END,
    t.gate_waiting = CASE WHEN eta > now THEN NULL ELSE r.gate END
WITH t, r, live_key ORDER BY t.uid                       // all merged; now lock in uid order
SET t.lock_v = 0
WITH t, r, live_key
RETURN r.uid AS asked, t.uid AS uid, t.id AS id, t.status AS status,
  CASE WHEN t.live_key IS NULL OR t.live_key <> live_key THEN 'retry'
       WHEN t.uid = r.uid THEN 'created'
       WHEN t.type = r.type AND t.payload = r.payload THEN 'existing'
       ELSE 'conflict' END AS answer

// Enqueue tasks whose key stays taken after they end: for a period from the enqueue, or for ever. Rows in the order of space and key.
// params: rows [as tasks/enqueue, and unique_ms (null: for ever)]
// returns: asked (the row's uid), uid, id, status, answer (created | existing | conflict: the holder has another type or payload |
//   gone: the holder was purged, and the key is still taken)
// mode: write
UNWIND range(0, size($rows) - 1) AS place
WITH $rows[place] AS r, place, timestamp() AS now
WITH r, place, now, coalesce(r.eta, now + r.delay_ms) AS eta ORDER BY r.space, r.key, r.uid
MERGE (k:UniqueKey {space: r.space, key: r.key})
  ON CREATE SET k.uid = r.uid, k.until = now + r.unique_ms
SET k.lock_v = 0
WITH k, r, place, now, eta, k.uid AS holder, k.until AS until
WITH k, r, place, now, eta, holder = r.uid OR coalesce(until <= now, false) AS free
CALL (k, r, now, free) {                                  // a period that is over: the key changes hands
  WITH k, r, now WHERE free AND k.uid <> r.uid
  SET k.uid = r.uid, k.until = now + r.unique_ms
}
CALL (r, place, now, eta, free) {
  WITH r, place, now, eta WHERE free
  MERGE (t:Task {uid: r.uid})
    ON CREATE SET t.id = coalesce(r.id, r.uid), t.space = r.space, t.type = r.type, t.lane = r.lane, t.key = r.key, t.key_lasts = true,
      t.prio_bucket = r.prio_bucket, t.weight = r.weight, t.rank = (400 - r.weight) * 10000000000000000 + now * 1000 + place,
      t.payload = r.payload, t.source = r.source, t.gate = r.gate, t.trace = r.trace, t.eta = eta,
      t.attempts = 0, t.claims = 0, t.max_attempts = r.max_attempts, t.enqueued_at = now, t.lock_v = 0,
      t.status = CASE WHEN eta > now THEN 'scheduled' ELSE 'pending' END,
      t.due_at = CASE WHEN eta > now THEN eta END,
      t.ready = CASE WHEN eta > now OR r.gate IS NOT NULL THEN NULL ELSE r.prio_bucket END,
      t.gate_waiting = CASE WHEN eta > now THEN NULL ELSE r.gate END
}
WITH collect([r, k.uid]) AS pairs
UNWIND pairs AS pair
WITH pair[0] AS r, pair[1] AS holder
OPTIONAL MATCH (t:Task {uid: holder})
RETURN r.uid AS asked, t.uid AS uid, t.id AS id, t.status AS status,
  CASE WHEN holder = r.uid THEN 'created' WHEN t IS NULL THEN 'gone'
       WHEN t.type = r.type AND t.payload = r.payload THEN 'existing' ELSE 'conflict' END AS answer

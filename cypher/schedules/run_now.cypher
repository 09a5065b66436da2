// Enqueue a tick by hand; the phase stays, last_run moves. Where a tick has not run yet there is no second one: its bucket is raised if asked.
// params: space, name, uid (new), payload (null: the schedule's), prio_bucket (null: the schedule's)
// returns: no row: no such schedule; answer (created | coalesced | other_payload), uid, id, gates [[space, key]] to admit
// mode: write
MATCH (s:Schedule {space: $space, name: $name})
SET s.lock_v = 0
WITH s, timestamp() AS now, coalesce($payload, s.payload) AS payload, coalesce($prio_bucket, s.prio_bucket) AS bucket
WHERE s.deleted_at IS NULL
CALL (s) {
  WITH s WHERE s.overlap = 'coalesce'
  MERGE (g:Gate {space: s.space, key: 's:' + s.name})
    ON CREATE SET g.limit = 1
}
CALL (s) {
  MATCH (t:Task {space: s.space, tick_of: s.name})
  WITH t ORDER BY t.uid
  SET t.lock_v = 0
  WITH t WHERE t.tick_of IS NOT NULL
  RETURN collect(t)[-1] AS waiting
}
WITH s, now, payload, bucket, waiting, CASE WHEN waiting IS NULL THEN 'created' WHEN waiting.payload = payload THEN 'coalesced'
     ELSE 'other_payload' END AS answer
CALL (waiting, answer) {                                 // raise
  WITH waiting, waiting.ready IS NOT NULL AS is_ready
  WHERE answer = 'coalesced' AND $prio_bucket < waiting.prio_bucket
  SET waiting.prio_bucket = $prio_bucket, waiting.ready = CASE WHEN is_ready THEN $prio_bucket END
}
CALL (s, now, payload, bucket, answer) {
  WITH s, now, payload, bucket WHERE answer = 'created'
  CREATE (t:Task {uid: $uid, id: 'run:' + s.name + ':' + $uid, space: s.space, type: s.type, lane: s.lane, schedule: s.name,
    tick_of: s.name, prio_bucket: bucket, weight: 0, rank: 400 * 10000000000000000 + now * 1000, payload: payload,
    attempts: 0, claims: 0, max_attempts: 3, enqueued_at: now, lock_v: 0, status: 'pending',
    gate: CASE WHEN s.overlap = 'coalesce' THEN 's:' + s.name END,
    ready: CASE WHEN s.overlap = 'coalesce' THEN NULL ELSE bucket END,
    gate_waiting: CASE WHEN s.overlap = 'coalesce' THEN 's:' + s.name END})
  SET s.last_run = now
  RETURN collect(t)[0] AS made
}
WITH s, answer, coalesce(made, waiting) AS t
RETURN answer, t.uid AS uid, t.id AS id, CASE WHEN s.overlap = 'coalesce' THEN [[s.space, 's:' + s.name]] ELSE [] END AS gates

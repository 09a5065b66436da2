// Give claims back: a retry after a transient error, a snooze, a release (drain, stranger). A cancel that was asked for ends them.
// params: acks [{uid, token, outcome (retry | snooze | release), delay_ms, error {kind, message, traceback}, log, claims, worker}], shard
// returns: answers [[uid, won | repeated | refused, status]], gates [[space, key]] to admit
// mode: write
CALL () {
  UNWIND $acks AS ack
  MATCH (t:Task {uid: ack.uid})
  WITH t, ack ORDER BY t.uid
  SET t.lock_v = 0
  WITH t, ack WHERE t.status IS NOT NULL                 // else purged while this waited
  RETURN collect({t: t, ack: ack,
    answer: CASE WHEN t.status = 'running' AND t.claim_token = ack.token THEN 'won'
                 WHEN t.last_token = ack.token AND t.last_outcome IN [ack.outcome, 'cancelled'] THEN 'repeated'
                 ELSE 'refused' END}) AS rows
}
CALL (rows) {
  UNWIND rows AS row
  WITH row.ack AS ack, timestamp() AS now WHERE row.answer = 'won'
  MATCH (t:Task {uid: ack.uid})
  WITH t, ack, now, t.attempts AS attempts, coalesce(t.releases, 0) AS releases, coalesce(t.snoozes, 0) AS snoozes,
       CASE WHEN t.cancel_requested_at IS NOT NULL THEN 'cancelled' WHEN ack.delay_ms > 0 THEN 'scheduled' ELSE 'pending' END AS status
  SET t.status = status, t.last_error = ack.error.message, t.last_token = ack.token,
      t.last_outcome = CASE WHEN status = 'cancelled' THEN status ELSE ack.outcome END,
      t.claim_token = NULL, t.lease_expires_at = NULL, t.running_lane = NULL, t.grace_ms = NULL, t.gate_held = NULL,
      t.attempts = CASE WHEN ack.outcome = 'retry' THEN attempts ELSE attempts - 1 END,
      t.releases = CASE WHEN ack.outcome = 'release' THEN releases + 1 ELSE releases END,
      t.snoozes = CASE WHEN ack.outcome = 'snooze' THEN snoozes + 1 ELSE snoozes END,
      t.due_at = CASE WHEN status = 'scheduled' THEN now + ack.delay_ms END,
      t.ready = CASE WHEN status = 'pending' AND t.gate IS NULL THEN t.prio_bucket END,
      t.gate_waiting = CASE WHEN status = 'pending' THEN t.gate END,
      t.tick_of = CASE WHEN status <> 'cancelled' THEN t.schedule END
  WITH t, ack, now, status
  CREATE (t)-[:ATTEMPT]->(:Attempt {number: t.claims, worker: t.worker_id, started_at: t.started_at, ended_at: now,
    outcome: CASE WHEN status = 'cancelled' THEN status ELSE ack.outcome END,
    kind: ack.error.kind, message: ack.error.message, traceback: ack.error.traceback, log: ack.log})
  RETURN collect(CASE WHEN status = 'cancelled' THEN t END) AS ended,
         collect(DISTINCT CASE WHEN t.gate IS NOT NULL THEN [t.space, t.gate] END) AS gates
}
CALL (ended) {
  UNWIND ended AS t
  SET t.finished_at = timestamp(), t.live_key = NULL,
      t.cascade_pending = CASE WHEN EXISTS { (t)<-[:DEPENDS_ON {met: false}]-() } THEN timestamp() END
}
CALL (rows) {                                            // what comes too late is kept where people look: one record a run
  UNWIND rows AS row
  WITH row.ack AS ack WHERE row.answer = 'refused'
  MATCH (t:Task {uid: ack.uid})
  WITH t, ack, t.late_finishes AS before
  SET t.late_finishes = coalesce(before, 0) + 1
  MERGE (t)-[:ATTEMPT]->(a:Attempt {number: coalesce(ack.claims, 0), outcome: 'refused'})
    ON CREATE SET a.worker = ack.worker, a.ended_at = timestamp(), a.kind = 'late_finish', a.log = ack.log,
      a.message = 'reported ' + ack.outcome + ', but the task was ' + t.status + coalesce(': ' + ack.error.message, '')
}
CALL (ended) {                                           // counters last
  UNWIND ended AS t
  WITH t.space AS space, t.lane AS lane, t.type AS type, t.status AS status, count(*) AS n
  WITH *, $shard + '|' + space + '|' + lane + '|' + type + '|' + status AS key ORDER BY key
  MERGE (c:Stat {key: key})
    ON CREATE SET c.space = space, c.lane = lane, c.type = type, c.status = status, c.n = 0
  SET c.n = c.n + n
}
RETURN [row IN rows | [row.ack.uid, row.answer, row.t.status]] AS answers, gates

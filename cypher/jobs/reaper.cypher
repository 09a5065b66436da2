// End claims whose lease and grace are over: back to pending, or dead_letter when the attempts are used up, or cancelled when
// that was asked for. The token stays as last_token, so that a body that completed after all can still say so.
// params: n, grace_ms (for tasks that have none of their own), shard
// returns: reaped [[uid, status, worker_id, token, space, schedule]], gates [[space, key]] to admit
// mode: write
CALL () {
  MATCH (t:Task) WHERE t.lease_expires_at < timestamp() AND t.lease_expires_at + coalesce(t.grace_ms, $grace_ms) < timestamp()
  WITH t ORDER BY t.lease_expires_at LIMIT $n
  WITH t ORDER BY t.uid
  SET t.lock_v = 0
  WITH t, t.claim_token AS token, coalesce(t.crashes, 0) AS crashes, timestamp() AS now
  WHERE t.status = 'running' AND t.lease_expires_at + coalesce(t.grace_ms, $grace_ms) < timestamp()
  WITH t, token, crashes, now, CASE WHEN t.cancel_requested_at IS NOT NULL THEN 'cancelled'
       WHEN t.attempts >= t.max_attempts THEN 'dead_letter' ELSE 'pending' END AS status
  SET t.status = status, t.last_error = 'worker lost', t.last_token = token, t.last_outcome = 'reaped', t.crashes = crashes + 1,
      t.claim_token = NULL, t.lease_expires_at = NULL, t.running_lane = NULL, t.grace_ms = NULL, t.gate_held = NULL,
      t.ready = CASE WHEN status = 'pending' AND t.gate IS NULL THEN t.prio_bucket END,
      t.gate_waiting = CASE WHEN status = 'pending' THEN t.gate END,
      t.tick_of = CASE WHEN status = 'pending' THEN t.schedule END
  WITH t, token, now, status
  CREATE (t)-[:ATTEMPT]->(:Attempt {number: t.claims, worker: t.worker_id, started_at: t.started_at, ended_at: now,
    outcome: status, kind: 'worker_lost', message: 'worker lost'})
  RETURN collect([t.uid, status, t.worker_id, token, t.space, t.schedule]) AS reaped, collect(CASE WHEN status <> 'pending' THEN t END) AS ended,
         collect(DISTINCT CASE WHEN t.gate IS NOT NULL THEN [t.space, t.gate] END) AS gates
}
CALL (ended) {
  UNWIND ended AS t
  SET t.finished_at = timestamp(), t.live_key = NULL,
      t.failed_at = CASE WHEN t.status = 'dead_letter' THEN timestamp() END,
      t.cascade_pending = CASE WHEN EXISTS { (t)<-[:DEPENDS_ON {met: false}]-() } THEN timestamp() END
}
CALL (ended) {                                           // counters last
  UNWIND ended AS t
  WITH t.space AS space, t.lane AS lane, t.type AS type, t.status AS status, count(*) AS n
  WITH *, $shard + '|' + space + '|' + lane + '|' + type + '|' + status AS key ORDER BY key
  MERGE (c:Stat {key: key})
    ON CREATE SET c.space = space, c.lane = lane, c.type = type, c.status = status, c.n = 0
  SET c.n = c.n + n
}
RETURN reaped, gates

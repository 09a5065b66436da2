// Record how claims ended, a batch at a time; release what waited for them; count. Also the last statement of ctx.finishing().
// params: acks [{uid, token, outcome (completed | failed | dead_letter | cancelled), result, error {kind, message, traceback}, log, claims, worker}],
//   shard
// returns: answers [[uid, won | late | repeated | refused, status]] (a uid that is absent does not exist), released,
//   gates [[space, key]] to admit
// mode: write
CALL () {                                                // look: unmet edges to what completes
  UNWIND $acks AS ack
  WITH ack WHERE ack.outcome = 'completed'
  MATCH (p:Task {uid: ack.uid})<-[edge:DEPENDS_ON {met: false}]-() USING INDEX SEEK p:Task(uid)
  WITH edge LIMIT 500
  RETURN collect(edge) AS edges
}
CALL (edges) {                                           // lock: one pass in uid order
  CALL (edges) {
    UNWIND $acks AS ack MATCH (t:Task {uid: ack.uid}) RETURN t
    UNION
    UNWIND edges AS edge RETURN startNode(edge) AS t
  }
  WITH t.uid AS uid ORDER BY uid
  MATCH (t:Task {uid: uid})                              // bound by MATCH: takes the node's lock alone
  SET t.lock_v = 0
  RETURN count(t) AS locked
}
CALL (locked) {                                          // decide, under the locks
  UNWIND $acks AS ack
  MATCH (t:Task {uid: ack.uid})
  RETURN collect({t: t, ack: ack,
    outcome: CASE WHEN ack.outcome <> 'completed' AND t.cancel_requested_at IS NOT NULL THEN 'cancelled' ELSE ack.outcome END,
    answer: CASE WHEN t.status = 'running' AND t.claim_token = ack.token THEN 'won'
                 WHEN t.last_token = ack.token AND t.last_outcome IN [ack.outcome, 'cancelled'] THEN 'repeated'
                 WHEN t.last_token = ack.token AND t.last_outcome = 'reaped' AND t.status = 'pending'
                      AND ack.outcome = 'completed' THEN 'late'
                 ELSE 'refused' END}) AS rows
}
CALL (rows) {
  UNWIND rows AS row
  WITH row, timestamp() AS now WHERE row.answer IN ['won', 'late']
  MATCH (t:Task {uid: row.ack.uid})                      // bound by MATCH, for its lock: see the traps
  WITH t, row.ack AS ack, row.outcome AS outcome, now
  SET t.status = outcome, t.result = ack.result, t.last_error = ack.error.message, t.finished_at = now,
      t.failed_at = CASE WHEN outcome IN ['failed', 'dead_letter'] THEN now END,
      t.last_token = ack.token, t.last_outcome = outcome, t.claim_token = NULL, t.lease_expires_at = NULL,
      t.running_lane = NULL, t.grace_ms = NULL, t.live_key = NULL, t.gate_held = NULL,
      t.ready = NULL, t.gate_waiting = NULL, t.tick_of = NULL
  RETURN collect(t) AS ended, collect(DISTINCT CASE WHEN t.gate IS NOT NULL THEN [t.space, t.gate] END) AS freed_gates
}
CALL (rows) {                                            // history of runs that did not complete at the first claim
  UNWIND rows AS row
  WITH row, row.t AS t, row.ack AS ack, row.outcome AS outcome
  WHERE row.answer = 'late' OR row.answer = 'won' AND (row.outcome <> 'completed' OR row.t.claims > 1 OR row.ack.log IS NOT NULL)
  CREATE (t)-[:ATTEMPT]->(:Attempt {number: t.claims, worker: t.worker_id, started_at: t.started_at, ended_at: timestamp(),
    outcome: outcome, kind: ack.error.kind, message: ack.error.message, traceback: ack.error.traceback, log: ack.log,
    late: CASE WHEN row.answer = 'late' THEN true END})
}
CALL (rows) {                                            // what comes too late is kept where people look: one record a run
  UNWIND rows AS row
  WITH row.ack AS ack WHERE row.answer = 'refused'
  MATCH (t:Task {uid: ack.uid})
  WITH t, ack, t.late_finishes AS before
  SET t.late_finishes = coalesce(before, 0) + 1
  MERGE (t)-[:ATTEMPT]->(a:Attempt {number: coalesce(ack.claims, 0), outcome: 'refused'})
    ON CREATE SET a.worker = ack.worker, a.ended_at = timestamp(), a.kind = 'late_finish', a.result = ack.result, a.log = ack.log,
      a.message = 'reported ' + ack.outcome + ', but the task was ' + t.status + coalesce(': ' + ack.error.message, '')
}
CALL (edges) {                                           // release: only edges not met, under both locks
  UNWIND edges AS edge
  WITH edge, startNode(edge) AS d, endNode(edge) AS p WHERE p.status = 'completed' AND edge.met = false
  SET edge.met = true
  WITH d, count(*) AS met
  WITH d, d.deps_left - met AS left, timestamp() AS now WHERE d.status = 'blocked'
  WITH d, left, CASE WHEN left > 0 THEN 'blocked' WHEN d.eta > now THEN 'scheduled' ELSE 'pending' END AS status
  SET d.status = status, d.deps_left = CASE WHEN left > 0 THEN left END,
      d.due_at = CASE WHEN status = 'scheduled' THEN d.eta END,
      d.ready = CASE WHEN status = 'pending' AND d.gate IS NULL THEN d.prio_bucket END,
      d.gate_waiting = CASE WHEN status = 'pending' THEN d.gate END
  RETURN sum(CASE WHEN left > 0 THEN 0 ELSE 1 END) AS released,
         collect(DISTINCT CASE WHEN status = 'pending' AND d.gate IS NOT NULL THEN [d.space, d.gate] END) AS waiting_gates
}
CALL (ended) {                                           // what a sweep owes
  UNWIND ended AS t
  WITH t WHERE EXISTS { (t)<-[:DEPENDS_ON {met: false}]-() }
  SET t.release_pending = CASE WHEN t.status = 'completed' THEN timestamp() END,
      t.cascade_pending = CASE WHEN t.status = 'completed' THEN NULL ELSE timestamp() END
}
CALL (ended) {                                           // counters last
  UNWIND ended AS t
  WITH t.space AS space, t.lane AS lane, t.type AS type, t.status AS status, count(*) AS n
  WITH *, $shard + '|' + space + '|' + lane + '|' + type + '|' + status AS key ORDER BY key
  MERGE (c:Stat {key: key})
    ON CREATE SET c.space = space, c.lane = lane, c.type = type, c.status = status, c.n = 0
  SET c.n = c.n + n
}
RETURN [row IN rows | [row.ack.uid, row.answer, row.t.status]] AS answers, released, freed_gates + waiting_gates AS gates

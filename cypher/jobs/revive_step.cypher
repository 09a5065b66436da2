// Bring back, n at a time, what was cancelled because of a task that a person retried. Again while a row comes back.
// params: n, shard
// returns: no row: nothing is owed; root, tasks [[uid, status]], gates [[space, key]] to admit
// mode: write
CALL () {
  MATCH (root:Task) WHERE root.revive_pending IS NOT NULL
  RETURN root ORDER BY root.revive_pending LIMIT 1
}
CALL (root) {                                            // look
  MATCH (t:Task {cancelled_because: root.uid})
  WITH t ORDER BY t.uid LIMIT $n
  RETURN collect(t) AS dead
}
CALL (dead) {                                            // lock: keys that last, before any task
  UNWIND dead AS t
  WITH t WHERE t.key_lasts
  MATCH (k:UniqueKey {space: t.space, key: t.key})
  WITH DISTINCT k ORDER BY k.space, k.key
  SET k.lock_v = 0
  RETURN count(k) AS keys
}
CALL (root, dead, keys) {                                // lock: one pass in uid order
  CALL (root, dead) {
    RETURN root AS t
    UNION
    UNWIND dead AS t RETURN t
    UNION
    UNWIND dead AS child MATCH (child)-[:DEPENDS_ON {met: false}]->(t:Task) RETURN t
  }
  WITH t.uid AS uid ORDER BY uid
  MATCH (t:Task {uid: uid})                              // bound by MATCH: takes the node's lock alone
  SET t.lock_v = 0
  RETURN count(t) AS locked
}
CALL (root, dead) {                                      // decide, under the locks: a root that died again brings nothing back
  MATCH (r:Task {uid: root.uid})
  RETURN CASE WHEN r.revive_pending IS NULL OR r.status IN ['failed', 'dead_letter', 'cancelled'] THEN []
              ELSE [t IN dead WHERE t.status = 'cancelled' AND t.cancelled_because = r.uid] END AS tasks
}
CALL (tasks) {                                           // the history says what was cancelled; of runs it knows
  UNWIND tasks AS t
  WITH t WHERE t.status = 'cancelled' AND NOT EXISTS { MATCH (t)-[:ATTEMPT]->(a:Attempt) WHERE a.ended_at = t.finished_at }
  OPTIONAL MATCH (b:Task {uid: t.cancelled_because})
  CREATE (t)-[:ATTEMPT]->(:Attempt {number: t.claims, ended_at: t.finished_at, outcome: 'cancelled', message: 'because of ' + b.id})
}
CALL (tasks) {                                           // leave the terminal states; remember which for the counters
  UNWIND tasks AS t
  WITH t, t.space AS space, t.lane AS lane, t.type AS type, t.status AS was
  SET t.status = 'blocked', t.attempts = 0, t.last_error = NULL, t.finished_at = NULL, t.failed_at = NULL,
      t.cancel_requested_at = NULL, t.cancelled_because = NULL, t.last_token = NULL, t.last_outcome = NULL, t.result = NULL,
      t.releases = NULL, t.snoozes = NULL
  RETURN collect([space, lane, type, was]) AS left
}
CALL (tasks) {                                           // as enqueue
  UNWIND tasks AS t
  OPTIONAL MATCH (t)-[edge:DEPENDS_ON {met: false}]->(p:Task)
  WHERE p.status = 'completed' OR (edge.on_failure = 'ignore' AND p.status IN ['failed', 'dead_letter', 'cancelled'])
  SET edge.met = true
}
CALL (tasks) {
  UNWIND tasks AS t
  OPTIONAL MATCH (t)-[edge:DEPENDS_ON {met: false}]->(p:Task)
  WITH t, count(edge) AS unmet, timestamp() AS now,
       min(CASE WHEN edge.on_failure = 'cancel' AND p.status IN ['failed', 'dead_letter', 'cancelled']
                THEN coalesce(p.cancelled_because, p.uid) END) AS dead_parent
  OPTIONAL MATCH (h:Task {live_key: 'u:' + t.space + ':' + t.key}) WHERE t.key_lasts IS NULL
  OPTIONAL MATCH (k:UniqueKey {space: t.space, key: t.key}) WHERE t.key_lasts AND k.uid <> t.uid AND coalesce(k.until > now, true)
  WITH t, unmet, now, coalesce(dead_parent, h.uid, k.uid) AS because ORDER BY t.uid
  WITH t.space AS space, CASE WHEN t.key_lasts IS NULL THEN t.key END AS key,
       collect({t: t, unmet: unmet, now: now, because: because}) AS rows   // one of a key comes back
  WITH rows, CASE WHEN key IS NOT NULL THEN head([row IN rows WHERE row.because IS NULL | row.t.uid]) END AS taker
  UNWIND rows AS row
  WITH row.t AS t, row.unmet AS unmet, row.now AS now, CASE WHEN row.because IS NULL AND taker <> row.t.uid THEN taker ELSE row.because END AS because
  WITH t, unmet, now, because, CASE WHEN because IS NOT NULL THEN 'cancelled' WHEN unmet > 0 OR t.after IS NOT NULL THEN 'blocked'
       WHEN t.eta > now THEN 'scheduled' ELSE 'pending' END AS status
  SET t.status = status, t.cancelled_because = because,
      t.unsettled = CASE WHEN status = 'blocked' AND t.after IS NOT NULL THEN now END,
      t.live_key = CASE WHEN status <> 'cancelled' AND t.key_lasts IS NULL THEN 'u:' + t.space + ':' + t.key END,
      t.deps_left = CASE WHEN status = 'blocked' AND unmet > 0 THEN unmet END,
      t.due_at = CASE WHEN status = 'scheduled' THEN t.eta END,
      t.ready = CASE WHEN status = 'pending' AND t.gate IS NULL THEN t.prio_bucket END,
      t.gate_waiting = CASE WHEN status = 'pending' THEN t.gate END,
      t.tick_of = CASE WHEN status <> 'cancelled' THEN t.schedule END,
      t.finished_at = CASE WHEN status = 'cancelled' THEN now END,
      t.cascade_pending = CASE WHEN status = 'cancelled' AND EXISTS { (t)<-[:DEPENDS_ON {met: false}]-() } THEN now END
  RETURN collect([t.uid, status]) AS answers,
         collect(DISTINCT CASE WHEN status = 'pending' AND t.gate IS NOT NULL THEN [t.space, t.gate] END) AS gates
}
CALL (root) {
  MATCH (r:Task {uid: root.uid})
  WHERE r.status IN ['failed', 'dead_letter', 'cancelled'] OR NOT EXISTS { MATCH (more:Task {cancelled_because: r.uid}) }
  SET r.revive_pending = NULL
}
CALL (tasks, left) {                                     // counters last: left minus entered again
  CALL (tasks, left) {
    UNWIND left AS cell RETURN cell, -1 AS n
    UNION ALL
    UNWIND tasks AS t WITH t WHERE t.status = 'cancelled' RETURN [t.space, t.lane, t.type, t.status] AS cell, 1 AS n
  }
  WITH cell[0] AS space, cell[1] AS lane, cell[2] AS type, cell[3] AS status, sum(n) AS n
  WITH *, $shard + '|' + space + '|' + lane + '|' + type + '|' + status AS key ORDER BY key
  MERGE (c:Stat {key: key})
    ON CREATE SET c.space = space, c.lane = lane, c.type = type, c.status = status, c.n = 0
  SET c.n = c.n + n
}
RETURN root.uid AS root, answers AS tasks, gates

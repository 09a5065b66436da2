// Bring back a task that ended badly, and what was cancelled because of it: the first n by uid, so what is waited for comes before
// what waits; jobs/revive_step brings back the rest. What a person cancelled stays.
// params: uid, n (500), shard, by (who asked), of (the states it may be in, among those that are over but not completed)
// returns: no row: does not exist; answer (retried | not_dead | cascading: ask again | key_taken | parent_dead), because (uid of
//   the dead parent, or of the task that has the key now), status, tasks [[uid, status]], gates [[space, key]] to admit
// mode: write
MATCH (root:Task {uid: $uid})
CALL (root) {                                            // look: what comes back, and what it waits for
  CALL (root) {
    RETURN root AS t
    UNION
    MATCH (t:Task {cancelled_because: $uid}) RETURN t ORDER BY t.uid LIMIT $n
  }
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
CALL (dead, keys) {                                      // lock: one pass in uid order
  CALL (dead) {
    UNWIND dead AS t RETURN t
    UNION
    UNWIND dead AS child MATCH (child)-[:DEPENDS_ON {met: false}]->(t:Task) RETURN t
  }
  WITH t.uid AS uid ORDER BY uid
  MATCH (t:Task {uid: uid})                              // bound by MATCH: takes the node's lock alone
  SET t.lock_v = 0
  RETURN count(t) AS locked
}
CALL (root, dead) {                                      // decide, under the locks
  CALL (root) {
    OPTIONAL MATCH (root)-[:DEPENDS_ON {met: false, on_failure: 'cancel'}]->(p:Task)
    WHERE p.status IN ['failed', 'dead_letter', 'cancelled']
    RETURN min(p.uid) AS dead_parent
  }
  CALL (root) {
    OPTIONAL MATCH (h:Task {live_key: 'u:' + root.space + ':' + root.key}) WHERE root.key_lasts IS NULL
    OPTIONAL MATCH (k:UniqueKey {space: root.space, key: root.key})
    WHERE root.key_lasts AND k.uid <> root.uid AND coalesce(k.until > timestamp(), true)
    RETURN coalesce(min(h.uid), min(k.uid)) AS holder
  }
  WITH *, [t IN dead WHERE t = root OR t.status = 'cancelled' AND t.cancelled_because = $uid] AS tasks
  RETURN tasks, coalesce(dead_parent, holder) AS because,
    CASE WHEN NOT root.status IN $of THEN 'not_dead'
         WHEN any(t IN dead WHERE t.cascade_pending IS NOT NULL) THEN 'cascading'
         WHEN dead_parent IS NOT NULL THEN 'parent_dead'
         WHEN holder IS NOT NULL THEN 'key_taken'
         ELSE 'retried' END AS answer
}
WITH root, answer, because, CASE WHEN answer = 'retried' THEN tasks ELSE [] END AS tasks
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
CALL (root, answer) {                                    // more than n: a sweep owes the rest
  WITH root WHERE answer = 'retried' AND EXISTS { MATCH (more:Task {cancelled_because: root.uid}) }
  SET root.revive_pending = timestamp()
}
CALL (root, answer) {                                    // the history says who asked
  WITH root WHERE answer = 'retried'
  CREATE (root)-[:ATTEMPT]->(:Attempt {number: root.claims, started_at: timestamp(), ended_at: timestamp(), outcome: 'retried', message: $by})
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
RETURN answer, because, root.status AS status, answers AS tasks, gates

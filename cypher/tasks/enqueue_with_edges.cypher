// Enqueue tasks that wait for others or were spawned by one: all rows or none. The locks of the tasks waited for come first, then
// each edge's rule is applied at once. A row may wait for another row; every uid is greater than those it waits for.
// params: rows [as tasks/enqueue, and after [{uid, on_failure}], spawned_by], parents [distinct uids outside the batch],
//   best_effort [names of lanes with a cap], shard
// returns: missing [parents that do not exist], misplaced [uids of rows that do not come after what they wait for], best_effort
//   [parents in a lane with a cap]: when there are any, nothing was written; tasks [[uid, status, cancelled_because]];
//   gates [[space, key]] to admit
// mode: write
CALL () {
  UNWIND $parents AS uid
  OPTIONAL MATCH (p:Task {uid: uid})
  WITH uid, p ORDER BY uid
  SET p.lock_v = 0
  RETURN collect(CASE WHEN p.status IS NULL THEN uid END) AS missing  // not there, or purged while this waited
}
CALL (missing) {                                         // nothing may wait for a best-effort lane
  UNWIND $parents AS uid
  MATCH (p:Task {uid: uid})
  WHERE p.lane IN $best_effort AND any(r IN $rows WHERE any(a IN r.after WHERE a.uid = p.uid))
  RETURN collect(p.uid) AS best_effort
}
WITH missing, best_effort, [r IN $rows WHERE any(a IN r.after WHERE a.uid >= r.uid) | r.uid] AS misplaced
WITH missing, best_effort, misplaced, CASE WHEN missing + best_effort + misplaced = [] THEN $rows ELSE [] END AS rows
CALL (rows) {
  UNWIND range(0, size(rows) - 1) AS place
  WITH rows[place] AS r, place, timestamp() AS now
  WITH r, place, now, coalesce(r.eta, now + r.delay_ms) AS eta
  CREATE (t:Task {uid: r.uid, id: coalesce(r.id, r.uid), space: r.space, type: r.type, lane: r.lane,
    prio_bucket: r.prio_bucket, weight: r.weight, rank: (400 - r.weight) * 10000000000000000 + now * 1000 + place,
    payload: r.payload, source: r.source, gate: r.gate, trace: r.trace, eta: eta, key: r.key,
    live_key: CASE WHEN r.key IS NOT NULL THEN 'u:' + r.space + ':' + r.key END,
    attempts: 0, claims: 0, max_attempts: r.max_attempts, enqueued_at: now, lock_v: 0, status: 'blocked'})
  RETURN collect(t) AS tasks
}
CALL (rows) {
  UNWIND rows AS r
  MATCH (t:Task {uid: r.uid})
  UNWIND r.after AS after
  MATCH (p:Task {uid: after.uid})
  CREATE (t)-[:DEPENDS_ON {on_failure: after.on_failure, met: p.status = 'completed'
    OR (after.on_failure = 'ignore' AND p.status IN ['failed', 'dead_letter', 'cancelled'])}]->(p)
}
CALL (rows) {
  UNWIND rows AS r
  WITH r WHERE r.spawned_by IS NOT NULL
  MATCH (t:Task {uid: r.uid})
  UNWIND [r.spawned_by] AS uid
  MATCH (p:Task {uid: uid})
  CREATE (p)-[:SPAWNED]->(t)
}
CALL (tasks) {
  UNWIND tasks AS t
  OPTIONAL MATCH (t)-[edge:DEPENDS_ON {met: false}]->(p:Task)
  WITH t, count(edge) AS unmet, timestamp() AS now,
       min(CASE WHEN edge.on_failure = 'cancel' AND p.status IN ['failed', 'dead_letter', 'cancelled']
                THEN coalesce(p.cancelled_because, p.uid) END) AS because
  WITH t, unmet, now, because, CASE WHEN because IS NOT NULL THEN 'cancelled' WHEN unmet > 0 THEN 'blocked'
       WHEN t.eta > now THEN 'scheduled' ELSE 'pending' END AS status
  WITH t, unmet, now, because, status, t.live_key AS live_key
  SET t.status = status, t.cancelled_because = because, t.live_key = CASE WHEN status <> 'cancelled' THEN live_key END,
      t.deps_left = CASE WHEN status = 'blocked' THEN unmet END,
      t.due_at = CASE WHEN status = 'scheduled' THEN t.eta END,
      t.ready = CASE WHEN status = 'pending' AND t.gate IS NULL THEN t.prio_bucket END,
      t.gate_waiting = CASE WHEN status = 'pending' THEN t.gate END,
      t.finished_at = CASE WHEN status = 'cancelled' THEN now END,
      t.cascade_pending = CASE WHEN status = 'cancelled' AND EXISTS { (t)<-[:DEPENDS_ON {met: false}]-() } THEN now END
  RETURN collect([t.uid, status, because]) AS answers,
         collect(DISTINCT CASE WHEN status = 'pending' AND t.gate IS NOT NULL THEN [t.space, t.gate] END) AS gates
}
CALL (tasks) {
  UNWIND tasks AS t
  WITH t WHERE t.status = 'cancelled'
  WITH t.space AS space, t.lane AS lane, t.type AS type, t.status AS status, count(*) AS n
  WITH *, $shard + '|' + space + '|' + lane + '|' + type + '|' + status AS key ORDER BY key
  MERGE (c:Stat {key: key})
    ON CREATE SET c.space = space, c.lane = lane, c.type = type, c.status = status, c.n = 0
  SET c.n = c.n + n
}
RETURN missing, misplaced, best_effort, answers AS tasks, gates

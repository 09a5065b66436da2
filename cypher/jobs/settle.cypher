// Give tasks that were enqueued inside a user's transaction their edges and their status, under the locks of what they wait for.
// params: n, shard
// returns: settled [[uid, status]], gates [[space, key]] to admit
// mode: write
CALL () {
  MATCH (t:Task) WHERE t.unsettled IS NOT NULL
  WITH t ORDER BY t.unsettled LIMIT $n
  RETURN collect(t) AS owed
}
CALL (owed) {                                            // lock parents and tasks, one pass in uid order
  CALL (owed) {
    UNWIND owed AS t RETURN t
    UNION
    UNWIND owed AS child UNWIND coalesce(child.after, []) + coalesce(child.spawned_by, []) AS after
    MATCH (t:Task {uid: split(after, ' ')[0]}) RETURN t
  }
  WITH t.uid AS uid ORDER BY uid
  MATCH (t:Task {uid: uid})                              // bound by MATCH: takes the node's lock alone
  SET t.lock_v = 0
  RETURN count(t) AS locked
}
CALL (owed) {
  UNWIND owed AS t
  WITH t WHERE t.unsettled IS NOT NULL AND t.status = 'blocked'
  RETURN collect(t) AS tasks
}
CALL (tasks) {
  UNWIND tasks AS t
  UNWIND coalesce(t.after, []) AS after
  MATCH (p:Task {uid: split(after, ' ')[0]})
  WITH t, p, split(after, ' ')[1] AS on_failure
  CREATE (t)-[:DEPENDS_ON {on_failure: on_failure, met: p.status = 'completed'
    OR (on_failure = 'ignore' AND p.status IN ['failed', 'dead_letter', 'cancelled'])}]->(p)
}
CALL (tasks) {
  UNWIND tasks AS t
  MATCH (p:Task {uid: t.spawned_by})
  CREATE (p)-[:SPAWNED]->(t)
}
CALL (tasks) {
  UNWIND tasks AS t
  OPTIONAL MATCH (t)-[edge:DEPENDS_ON]->(p:Task)
  WITH t, count(CASE WHEN edge.met THEN NULL ELSE edge END) AS unmet, size(coalesce(t.after, [])) - count(edge) AS gone,
       timestamp() AS now,
       min(CASE WHEN edge.met = false AND edge.on_failure = 'cancel' AND p.status IN ['failed', 'dead_letter', 'cancelled']
                THEN coalesce(p.cancelled_because, p.uid) END) AS because
  WITH t, unmet, gone, now, because, CASE WHEN because IS NOT NULL OR gone > 0 THEN 'cancelled' WHEN unmet > 0 THEN 'blocked'
       WHEN t.eta > now THEN 'scheduled' ELSE 'pending' END AS status
  WITH t, unmet, gone, now, because, status, t.live_key AS live_key
  SET t.status = status, t.cancelled_because = because, t.unsettled = NULL,
      t.live_key = CASE WHEN status <> 'cancelled' THEN live_key END, t.after = NULL, t.spawned_by = NULL,
      t.last_error = CASE WHEN gone > 0 THEN 'a task that it waits for was deleted before the edges were made' END,
      t.deps_left = CASE WHEN status = 'blocked' THEN unmet END,
      t.due_at = CASE WHEN status = 'scheduled' THEN t.eta END,
      t.ready = CASE WHEN status = 'pending' AND t.gate IS NULL THEN t.prio_bucket END,
      t.gate_waiting = CASE WHEN status = 'pending' THEN t.gate END,
      t.finished_at = CASE WHEN status = 'cancelled' THEN now END,
      t.cascade_pending = CASE WHEN status = 'cancelled' AND EXISTS { (t)<-[:DEPENDS_ON {met: false}]-() } THEN now END
  RETURN collect([t.uid, status]) AS settled,
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
RETURN settled, gates

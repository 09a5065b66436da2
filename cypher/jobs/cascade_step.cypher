// One step of a cascade, from tasks that ended badly over unmet edges to what they block: cancel edges cancel, ignore edges are
// met, hold edges stay. What is cancelled carries the mark on: the walk goes level by level. Again while parents > 0.
// params: n (edges a transaction), parents (marked tasks a transaction), shard
// returns: parents, cancelled [[uid, root]], released, gates [[space, key]] to admit
// mode: write
CALL () {
  MATCH (p:Task) WHERE p.cascade_pending IS NOT NULL
  WITH p ORDER BY p.cascade_pending LIMIT $parents
  OPTIONAL MATCH (p)<-[edge:DEPENDS_ON {met: false}]-(d:Task {status: 'blocked'}) WHERE edge.on_failure IN ['cancel', 'ignore']
  WITH p, edge LIMIT $n
  RETURN collect(DISTINCT p) AS parents, collect(DISTINCT edge) AS edges
}
CALL (parents, edges) {
  CALL (parents, edges) {
    UNWIND parents AS t RETURN t
    UNION
    UNWIND edges AS edge RETURN startNode(edge) AS t
  }
  WITH t.uid AS uid ORDER BY uid
  MATCH (t:Task {uid: uid})                              // bound by MATCH: takes the node's lock alone
  SET t.lock_v = 0
  RETURN count(t) AS locked
}
CALL (edges) {                                           // ignore edges first: they are met whatever becomes of the dependent
  UNWIND edges AS edge
  WITH edge, startNode(edge) AS d, endNode(edge) AS p
  WHERE edge.on_failure = 'ignore' AND edge.met = false AND p.status IN ['failed', 'dead_letter', 'cancelled']
  SET edge.met = true
  WITH d, count(*) AS met
  WITH d, d.deps_left - met AS left, timestamp() AS now WHERE d.status = 'blocked'
  WITH d, left, CASE WHEN left > 0 THEN 'blocked' WHEN d.eta > now THEN 'scheduled' ELSE 'pending' END AS status
  SET d.status = status, d.deps_left = CASE WHEN left > 0 THEN left END,
      d.due_at = CASE WHEN status = 'scheduled' THEN d.eta END,
      d.ready = CASE WHEN status = 'pending' AND d.gate IS NULL THEN d.prio_bucket END,
      d.gate_waiting = CASE WHEN status = 'pending' THEN d.gate END
  RETURN sum(CASE WHEN left > 0 THEN 0 ELSE 1 END) AS released,
         collect(DISTINCT CASE WHEN status = 'pending' AND d.gate IS NOT NULL THEN [d.space, d.gate] END) AS gates
}
CALL (edges) {
  UNWIND edges AS edge
  WITH edge, startNode(edge) AS t, endNode(edge) AS p
  WHERE edge.on_failure = 'cancel' AND edge.met = false AND t.status = 'blocked'
    AND p.status IN ['failed', 'dead_letter', 'cancelled']
  WITH t, min(coalesce(p.cancelled_because, p.uid)) AS root, timestamp() AS now
  SET t.status = 'cancelled', t.cancelled_because = root, t.finished_at = now, t.deps_left = NULL, t.live_key = NULL,
      t.tick_of = NULL, t.unsettled = NULL, t.cascade_pending = CASE WHEN EXISTS { (t)<-[:DEPENDS_ON {met: false}]-() } THEN now END
  RETURN collect(t) AS ended, collect([t.uid, root]) AS cancelled
}
CALL (parents) {
  UNWIND parents AS p
  WITH p WHERE NOT p.status IN ['failed', 'dead_letter', 'cancelled']
    OR NOT EXISTS { (p)<-[edge:DEPENDS_ON {met: false}]-(d:Task {status: 'blocked'}) WHERE edge.on_failure IN ['cancel', 'ignore'] }
  SET p.cascade_pending = NULL
}
CALL (ended) {                                           // counters last
  UNWIND ended AS t
  WITH t.space AS space, t.lane AS lane, t.type AS type, t.status AS status, count(*) AS n
  WITH *, $shard + '|' + space + '|' + lane + '|' + type + '|' + status AS key ORDER BY key
  MERGE (c:Stat {key: key})
    ON CREATE SET c.space = space, c.lane = lane, c.type = type, c.status = status, c.n = 0
  SET c.n = c.n + n
}
RETURN size(parents) AS parents, cancelled, released, gates

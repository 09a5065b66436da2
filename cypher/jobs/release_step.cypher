// Release what waits for tasks that completed with more dependents than one finish takes. Again while parents > 0.
// params: n (edges a transaction), parents (marked tasks a transaction)
// returns: parents, released, gates [[space, key]] to admit
// mode: write
CALL () {
  MATCH (p:Task) WHERE p.release_pending IS NOT NULL
  WITH p ORDER BY p.release_pending LIMIT $parents
  OPTIONAL MATCH (p)<-[edge:DEPENDS_ON {met: false}]-()
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
CALL (edges) {
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
         collect(DISTINCT CASE WHEN status = 'pending' AND d.gate IS NOT NULL THEN [d.space, d.gate] END) AS gates
}
CALL (parents) {
  UNWIND parents AS p
  WITH p WHERE p.status <> 'completed' OR NOT EXISTS { (p)<-[:DEPENDS_ON {met: false}]-() }
  SET p.release_pending = NULL
}
RETURN size(parents) AS parents, released, gates

// Delete tasks that ended before a time, with their attempts; not those that something still waits for. Again while n rows come back.
// params: before (epoch ms), n, shard
// returns: n
// mode: write
CALL () {
  MATCH (t:Task) WHERE t.finished_at < $before AND NOT EXISTS { (t)<-[:DEPENDS_ON {met: false}]-() }
  WITH t ORDER BY t.finished_at LIMIT $n
  RETURN collect(t) AS old
}
CALL (old) {                                             // deleting a relationship locks both ends: lock all of them in uid order
  CALL (old) {
    UNWIND old AS t RETURN t
    UNION
    UNWIND old AS one MATCH (one)-[:DEPENDS_ON|SPAWNED]-(t:Task) RETURN t
  }
  WITH t.uid AS uid ORDER BY uid
  MATCH (t:Task {uid: uid})                              // bound by MATCH: takes the node's lock alone
  SET t.lock_v = 0
  RETURN count(t) AS locked
}
CALL (old) {
  UNWIND old AS t
  WITH t WHERE t.finished_at < $before AND NOT EXISTS { (t)<-[:DEPENDS_ON {met: false}]-() }
  RETURN collect(t) AS ended, collect([t.space, t.lane, t.type, t.status]) AS cells
}
CALL (ended) {
  UNWIND ended AS t
  OPTIONAL MATCH (t)-[:ATTEMPT]->(a:Attempt)
  DETACH DELETE a, t
}
CALL (cells) {                                           // counters last
  UNWIND cells AS cell
  WITH cell[0] AS space, cell[1] AS lane, cell[2] AS type, cell[3] AS status, count(*) AS n
  WITH *, $shard + '|' + space + '|' + lane + '|' + type + '|' + status AS key ORDER BY key
  MERGE (c:Stat {key: key})
    ON CREATE SET c.space = space, c.lane = lane, c.type = type, c.status = status, c.n = 0
  SET c.n = c.n - n
}
RETURN size(cells) AS n

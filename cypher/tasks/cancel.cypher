// Cancel for a person: what does not run ends at once, what runs is asked to stop.
// params: uids, shard
// returns: answers [[uid, cancelled | requested | over, status]] (absent: does not exist), gates [[space, key]] to admit
// mode: write
CALL () {
  UNWIND $uids AS uid
  MATCH (t:Task {uid: uid})
  WITH DISTINCT t ORDER BY t.uid
  SET t.lock_v = 0
  WITH t WHERE t.status IS NOT NULL                      // else purged while this waited
  RETURN collect({t: t, answer: CASE WHEN t.status IN ['pending', 'scheduled', 'blocked'] THEN 'cancelled'
                                     WHEN t.status = 'running' THEN 'requested' ELSE 'over' END}) AS rows
}
CALL (rows) {
  UNWIND rows AS row
  WITH row.t AS t, row.t.cancel_requested_at AS before WHERE row.answer = 'requested'
  SET t.cancel_requested_at = coalesce(before, timestamp())
}
CALL (rows) {
  UNWIND rows AS row
  WITH row.t.uid AS uid, timestamp() AS now WHERE row.answer = 'cancelled'
  MATCH (t:Task {uid: uid})
  SET t.status = 'cancelled', t.finished_at = now, t.ready = NULL, t.due_at = NULL, t.deps_left = NULL, t.live_key = NULL,
      t.gate_waiting = NULL, t.gate_held = NULL, t.tick_of = NULL, t.unsettled = NULL,
      t.cascade_pending = CASE WHEN EXISTS { (t)<-[:DEPENDS_ON {met: false}]-() } THEN now END
  RETURN collect(t) AS ended, collect(DISTINCT CASE WHEN t.gate IS NOT NULL THEN [t.space, t.gate] END) AS gates
}
CALL (ended) {                                           // counters last
  UNWIND ended AS t
  WITH t.space AS space, t.lane AS lane, t.type AS type, t.status AS status, count(*) AS n
  WITH *, $shard + '|' + space + '|' + lane + '|' + type + '|' + status AS key ORDER BY key
  MERGE (c:Stat {key: key})
    ON CREATE SET c.space = space, c.lane = lane, c.type = type, c.status = status, c.n = 0
  SET c.n = c.n + n
}
RETURN [row IN rows | [row.t.uid, row.answer, row.t.status]] AS answers, gates

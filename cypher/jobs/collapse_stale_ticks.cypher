// Cancel all slot ticks of a schedule that have not run, but the newest. What runs, ticks by hand or of a backfill, and schedules
// that allow overlap or catch up with all slots are left alone.
// params: n (schedules a transaction), shard
// returns: cancelled [[uid, schedule, slot]]
// mode: write
CALL () {
  MATCH (t:Task) WHERE t.space IS NOT NULL AND t.tick_of IS NOT NULL
  WITH t.space AS space, t.tick_of AS name, count(*) AS ticks WHERE ticks > 1
  MATCH (s:Schedule {space: space, name: name})
  WITH s WHERE s.overlap <> 'allow' AND s.catch_up <> 'all'
  WITH s ORDER BY s.space, s.name LIMIT $n
  SET s.lock_v = 0
  RETURN collect(s) AS schedules
}
CALL (schedules) {
  UNWIND schedules AS s
  MATCH (t:Task {space: s.space, tick_of: s.name}) WHERE t.slot IS NOT NULL
  WITH t ORDER BY t.uid
  SET t.lock_v = 0
  WITH t WHERE t.tick_of IS NOT NULL AND t.status IN ['pending', 'scheduled', 'blocked']
  WITH t ORDER BY t.slot
  WITH t.space AS space, t.schedule AS schedule, collect(t) AS ticks
  UNWIND ticks[0..-1] AS t
  RETURN collect(t) AS ended
}
CALL (ended) {
  UNWIND ended AS t
  SET t.status = 'cancelled', t.finished_at = timestamp(), t.ready = NULL, t.due_at = NULL, t.deps_left = NULL, t.live_key = NULL,
      t.gate_waiting = NULL, t.gate_held = NULL, t.tick_of = NULL, t.unsettled = NULL,
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
RETURN [t IN ended | [t.uid, t.schedule, t.slot]] AS cancelled

// Gates with room and somebody waiting: what an admission that was lost in a crash owes, and what a period that passed allows.
// params: none
// returns: gates [[space, key]]
// mode: read
MATCH (g:Gate) WHERE g.space IS NOT NULL AND g.key IS NOT NULL
CALL (g) {
  MATCH (t:Task {space: g.space, gate_held: g.key})
  OPTIONAL MATCH (k:TaskType {name: t.type})
  OPTIONAL MATCH (l:Lane {name: t.lane})
  WITH t WHERE t.status <> 'pending' OR coalesce(k.paused_at, l.paused_at) IS NULL
  RETURN count(t) AS held
}
WITH g, held WHERE (g.limit IS NULL OR held < g.limit) AND coalesce(g.next_at <= timestamp(), true)
CALL (g) {
  MATCH (t:Task {space: g.space, gate_waiting: g.key}) WHERE t.prio_bucket IS NOT NULL AND t.rank IS NOT NULL
    AND NOT EXISTS { MATCH (k:TaskType {name: t.type}) WHERE k.paused_at IS NOT NULL }
    AND NOT EXISTS { MATCH (l:Lane {name: t.lane}) WHERE l.paused_at IS NOT NULL }
  RETURN t LIMIT 1
}
RETURN collect([g.space, g.key]) AS gates

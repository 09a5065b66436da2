// Let the next waiting tasks through, by bucket and rank, as far as the gate's limit and rate allow. Nothing else makes a gated
// task ready. A start counts against the rate from its admission until a period after its claim. What is paused is not let through,
// and gives its place back.
// params: gates [[space, key]]
// returns: admitted [[uid, type]]
// mode: write
UNWIND $gates AS gate
MATCH (g:Gate {space: gate[0], key: gate[1]})
WITH g ORDER BY g.space, g.key
SET g.lock_v = 0
WITH collect(g) AS gates
UNWIND gates AS g
CALL (g) {                                               // how many more may run
  MATCH (t:Task {space: g.space, gate_held: g.key})
  OPTIONAL MATCH (k:TaskType {name: t.type})
  OPTIONAL MATCH (l:Lane {name: t.lane})
  WITH t, t.status = 'pending' AND coalesce(k.paused_at, l.paused_at) IS NOT NULL AS paused
  WITH count(CASE WHEN NOT paused THEN 1 END) AS held, count(CASE WHEN t.status = 'pending' AND NOT paused THEN 1 END) AS admitted,
       collect(CASE WHEN paused THEN t END) AS back
  RETURN coalesce(g.limit, held + 100) - held AS free, admitted, back
}
CALL (g) {                                               // how many more may start in this period
  MATCH (t:Task {space: g.space, gate: g.key}) USING INDEX SEEK t:Task(space, gate, started_at)
  WHERE t.started_at > timestamp() - coalesce(g.period_ms, 0)
  UNWIND [start IN coalesce(t.starts, [t.started_at]) WHERE start > timestamp() - g.period_ms] AS start
  RETURN count(start) AS started, min(start) AS first
}
WITH g, back, free, first, CASE WHEN g.rate IS NULL THEN 100 ELSE g.rate - started - admitted END AS starts
WITH g, back, first, CASE WHEN free < starts THEN free ELSE starts END AS room
CALL (g) {
  MATCH (t:Task {space: g.space, gate_waiting: g.key}) WHERE t.prio_bucket IS NOT NULL AND t.rank IS NOT NULL
    AND NOT EXISTS { MATCH (k:TaskType {name: t.type}) WHERE k.paused_at IS NOT NULL }
    AND NOT EXISTS { MATCH (l:Lane {name: t.lane}) WHERE l.paused_at IS NOT NULL }
  WITH t ORDER BY t.space, t.gate_waiting, t.prio_bucket, t.rank LIMIT 100
  RETURN collect(t) AS waiting
}
WITH g, back, first, room, waiting, waiting[0..CASE WHEN room > 0 THEN room ELSE 0 END] AS next
CALL (g, first, waiting, next) {                         // when to ask again, where only the rate holds somebody back
  WITH g, first, waiting, next WHERE g.rate IS NOT NULL
  SET g.next_at = CASE WHEN size(waiting) > size(next) THEN coalesce(first, timestamp()) + g.period_ms END
}
UNWIND back + next AS candidate
WITH DISTINCT g, candidate.uid AS uid, candidate IN back AS leaves ORDER BY uid
MATCH (t:Task {uid: uid})
SET t.lock_v = 0
WITH g, t, leaves WHERE t.status = 'pending' AND CASE WHEN leaves THEN t.gate_held ELSE t.gate_waiting END = g.key
SET t.ready = CASE WHEN leaves THEN NULL ELSE t.prio_bucket END, t.gate_held = CASE WHEN leaves THEN NULL ELSE g.key END,
    t.gate_waiting = CASE WHEN leaves THEN g.key END
RETURN collect(CASE WHEN NOT leaves THEN [t.uid, t.type] END) AS admitted

// Let the next waiting tasks through, by bucket and rank, as far as the gate's limit and rate allow. Nothing else makes a gated
// task ready. A start counts against the rate from its admission until a period after its claim.
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
  WITH count(t) AS held, count(CASE WHEN t.status = 'pending' THEN 1 END) AS admitted
  RETURN coalesce(g.limit, held + 100) - held AS free, admitted
}
CALL (g) {                                               // how many more may start in this period
  MATCH (t:Task {space: g.space, gate: g.key}) WHERE t.started_at > timestamp() - coalesce(g.period_ms, 0)
  UNWIND [start IN coalesce(t.starts, [t.started_at]) WHERE start > timestamp() - g.period_ms] AS start
  RETURN count(start) AS started, min(start) AS first
}
WITH g, free, first, CASE WHEN g.rate IS NULL THEN 100 ELSE g.rate - started - admitted END AS starts
WITH g, first, CASE WHEN free < starts THEN free ELSE starts END AS room
CALL (g) {
  MATCH (t:Task {space: g.space, gate_waiting: g.key}) WHERE t.prio_bucket IS NOT NULL AND t.rank IS NOT NULL
  WITH t ORDER BY t.space, t.gate_waiting, t.prio_bucket, t.rank LIMIT 100
  RETURN collect(t) AS waiting
}
WITH g, first, room, waiting, waiting[0..CASE WHEN room > 0 THEN room ELSE 0 END] AS next
CALL (g, first, waiting, next) {                         // when to ask again, where only the rate holds somebody back
  WITH g, first, waiting, next WHERE g.rate IS NOT NULL
  SET g.next_at = CASE WHEN size(waiting) > size(next) THEN coalesce(first, timestamp()) + g.period_ms END
}
UNWIND next AS candidate
WITH DISTINCT g, candidate.uid AS uid ORDER BY uid
MATCH (t:Task {uid: uid})
SET t.lock_v = 0
WITH g, t WHERE t.status = 'pending' AND t.gate_waiting = g.key
SET t.ready = t.prio_bucket, t.gate_held = g.key, t.gate_waiting = NULL
RETURN collect([t.uid, t.type]) AS admitted

// Let the next waiting tasks through, by bucket and rank, as far as the gate's limit allows. Nothing else makes a gated task ready.
// params: gates [[space, key]]
// returns: admitted [[uid, type]]
// mode: write
UNWIND $gates AS gate
MATCH (g:Gate {space: gate[0], key: gate[1]})
WITH g ORDER BY g.space, g.key
SET g.lock_v = 0
WITH collect(g) AS gates
UNWIND gates AS g
CALL (g) {
  MATCH (t:Task {space: g.space, gate_held: g.key})
  WITH count(t) AS held
  RETURN g.limit - held AS free
}
CALL (g) {
  MATCH (t:Task {space: g.space, gate_waiting: g.key}) WHERE t.prio_bucket IS NOT NULL AND t.rank IS NOT NULL
  WITH t ORDER BY t.space, t.gate_waiting, t.prio_bucket, t.rank LIMIT 100
  RETURN collect(t) AS waiting
}
WITH g, waiting[0..CASE WHEN free > 0 THEN free ELSE 0 END] AS next
UNWIND next AS candidate
WITH g, candidate.uid AS uid ORDER BY uid
MATCH (t:Task {uid: uid})
SET t.lock_v = 0
WITH g, t WHERE t.status = 'pending' AND t.gate_waiting = g.key
SET t.ready = t.prio_bucket, t.gate_held = g.key, t.gate_waiting = NULL
RETURN collect([t.uid, t.type]) AS admitted

// Heal the heads of the claim index: ready on what is not pending, waits at a gate, or lies in another bucket.
// params: types, n (rows a type and bucket)
// returns: healed [[uid, status]]
// mode: write
UNWIND $types AS type
UNWIND [0, 1, 2, 3] AS bucket
CALL (type, bucket) {
  MATCH (t:Task {type: type, ready: bucket}) WHERE t.rank IS NOT NULL
  RETURN t ORDER BY t.type, t.ready, t.rank LIMIT $n
}
WITH t ORDER BY t.uid
SET t.lock_v = 0
WITH t WHERE t.ready IS NOT NULL AND (t.status <> 'pending' OR t.gate_waiting IS NOT NULL OR t.ready <> t.prio_bucket)
SET t.ready = CASE WHEN t.status = 'pending' AND t.gate_waiting IS NULL THEN t.prio_bucket END
RETURN collect([t.uid, t.status]) AS healed

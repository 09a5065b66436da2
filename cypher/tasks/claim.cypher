// Claim up to n tasks of types that the worker handles and that neither their type's nor their lane's pause holds back: bucket
// 0 first, inside a bucket by rank.
// params: rules {type: {lane, lease_ms, grace_ms}}, n, token (fresh), worker, session
// returns: a row a task, in uid order (the caller restores the order by prio_bucket and rank): uid, id, space, type, attempt,
//   max_attempts, claims, prio_bucket, rank, lease_expires_at, releases, snoozes, schedule, slot, lane, lease_ms, token
// mode: write
CALL () {
  UNWIND keys($rules) AS name
  WITH name ORDER BY name                                // a unique seek locks the name until the commit
  OPTIONAL MATCH (k:TaskType {name: name})
  OPTIONAL MATCH (l:Lane {name: $rules[name].lane})
  WITH name, k, l WHERE k.paused_at IS NULL AND l.paused_at IS NULL
  RETURN collect(name) AS open_types
}
UNWIND [0, 1, 2, 3] AS bucket
CALL (open_types, bucket) {
  UNWIND open_types AS type
  CALL (type, bucket) {
    MATCH (t:Task {type: type, ready: bucket}) WHERE t.rank IS NOT NULL
    RETURN t ORDER BY t.type, t.ready, t.rank LIMIT $n
  }
  RETURN t ORDER BY t.rank LIMIT $n
}
WITH DISTINCT t LIMIT $n                                  // a change of priority moves a task in the index: it may be met twice
WITH t ORDER BY t.uid
SET t.lock_v = 0
WITH t, t.attempts AS attempts, t.claims AS claims, t.starts AS starts
WHERE t.status = 'pending' AND t.ready IS NOT NULL
SET t.status = 'running', t.claim_token = $token, t.worker_id = $worker, t.session = $session,
    t.lane = $rules[t.type].lane, t.running_lane = $rules[t.type].lane,
    t.attempts = attempts + 1, t.claims = claims + 1, t.started_at = timestamp(), t.lease_expires_at = timestamp() + $rules[t.type].lease_ms,
    t.starts = CASE WHEN t.gate IS NOT NULL THEN (coalesce(starts, []) + timestamp())[-50..] END,   // for the gate's rate
    t.grace_ms = $rules[t.type].grace_ms, t.ready = NULL, t.tick_of = NULL
RETURN t.uid AS uid, t.id AS id, t.space AS space, t.type AS type, t.attempts AS attempt, t.max_attempts AS max_attempts,
  t.claims AS claims, t.prio_bucket AS prio_bucket, t.rank AS rank, t.lease_expires_at AS lease_expires_at,
  t.releases AS releases, t.snoozes AS snoozes, t.schedule AS schedule, t.slot AS slot,
  t.running_lane AS lane, $rules[t.type].lease_ms AS lease_ms, t.claim_token AS token

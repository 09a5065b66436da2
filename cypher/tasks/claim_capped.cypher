// Claim in a lane whose cap holds for the whole cluster: take the lane's lock, count what runs there, take no more than what is
// free. Asked only when an unlocked look saw room; one capped lane a statement.
// params: lane, rules {type: {lane, lease_ms, grace_ms}} (types of this lane), n, token (fresh), worker, session
// returns: as tasks/claim
// mode: write
MATCH (l:Lane {name: $lane})
SET l.lock_v = 0
WITH l
CALL (l) {
  MATCH (r:Task {running_lane: l.name}) WHERE r.session IS NOT NULL
  RETURN count(r) AS running
}
WITH l, l.cap - running AS free WHERE free > 0 AND l.paused_at IS NULL
CALL (free) {
  UNWIND keys($rules) AS name
  WITH name ORDER BY name                                // a unique seek locks the name until the commit
  OPTIONAL MATCH (k:TaskType {name: name})
  WITH name, k WHERE k.paused_at IS NULL
  RETURN collect(name) AS open_types
}
CALL (open_types) {
  UNWIND [0, 1, 2, 3] AS bucket
  CALL (open_types, bucket) {
    UNWIND open_types AS type
    CALL (type, bucket) {
      MATCH (t:Task {type: type, ready: bucket}) WHERE t.rank IS NOT NULL
      RETURN t ORDER BY t.type, t.ready, t.rank LIMIT $n
    }
    RETURN t ORDER BY t.rank LIMIT $n
  }
  WITH DISTINCT t LIMIT $n                                // as in tasks/claim: one that moves may be met twice
  RETURN collect(t) AS candidates
}
UNWIND candidates[0..free] AS candidate
WITH candidate.uid AS uid ORDER BY uid
MATCH (t:Task {uid: uid})
SET t.lock_v = 0
WITH t, t.attempts AS attempts, t.claims AS claims, t.starts AS starts
WHERE t.status = 'pending' AND t.ready IS NOT NULL
SET t.status = 'running', t.claim_token = $token, t.worker_id = $worker, t.session = $session,
    t.lane = $lane, t.running_lane = $lane,
    t.attempts = attempts + 1, t.claims = claims + 1, t.started_at = timestamp(), t.lease_expires_at = timestamp() + $rules[t.type].lease_ms,
    t.starts = CASE WHEN t.gate IS NOT NULL THEN (coalesce(starts, []) + timestamp())[-50..] END,   // for the gate's rate
    t.grace_ms = $rules[t.type].grace_ms, t.ready = NULL, t.tick_of = NULL
RETURN t.uid AS uid, t.id AS id, t.space AS space, t.type AS type, t.attempts AS attempt, t.max_attempts AS max_attempts,
  t.claims AS claims, t.prio_bucket AS prio_bucket, t.rank AS rank, t.lease_expires_at AS lease_expires_at,
  t.releases AS releases, t.snoozes AS snoozes, t.schedule AS schedule, t.slot AS slot,
  t.running_lane AS lane, $rules[t.type].lease_ms AS lease_ms, t.claim_token AS token

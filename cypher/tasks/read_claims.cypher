// After a claim whose answer was lost: what runs under its token. A claim that still waits for a lock can commit later; the
// beat then reports such tasks as strangers.
// params: rules {type: {lane, lease_ms}}, token, session, lanes [names]
// returns: as tasks/claim
// mode: write (a follower may answer late)
UNWIND $lanes AS lane
MATCH (t:Task {running_lane: lane, session: $session})
WHERE t.claim_token = $token
RETURN t.uid AS uid, t.id AS id, t.space AS space, t.type AS type, t.attempts AS attempt, t.max_attempts AS max_attempts,
  t.claims AS claims, t.prio_bucket AS prio_bucket, t.rank AS rank, t.lease_expires_at AS lease_expires_at,
  t.releases AS releases, t.snoozes AS snoozes, t.schedule AS schedule, t.slot AS slot,
  t.running_lane AS lane, $rules[t.type].lease_ms AS lease_ms, t.claim_token AS token

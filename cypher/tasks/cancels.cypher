// Claims of one session that a person asked to stop: a beat tells too, but may be far off.
// params: session, lanes [names]
// returns: uid, token
// mode: write (a follower may answer late)
UNWIND $lanes AS lane
MATCH (t:Task {running_lane: lane, session: $session})
WHERE t.cancel_requested_at IS NOT NULL
RETURN t.uid AS uid, t.claim_token AS token

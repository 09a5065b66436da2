// Extend the leases of claims, a chunk at a time, on a connection of its own.
// params: claims [{uid, token, lease_ms}], session, lanes [names], known [uids of all claims of this session],
//   stranger_age_ms (longer than a claim may be under way)
// returns: lost [uids], cancel_requested [uids], strangers [[uid, token]] that run under this session, which does not know them
// mode: write
CALL () {
  UNWIND $claims AS claim
  MATCH (t:Task {uid: claim.uid})
  WITH t, claim ORDER BY t.uid
  SET t.lock_v = 0
  WITH t, claim WHERE t.status = 'running' AND t.claim_token = claim.token
  SET t.lease_expires_at = timestamp() + claim.lease_ms
  RETURN collect(t.uid) AS kept, collect(CASE WHEN t.cancel_requested_at IS NOT NULL THEN t.uid END) AS cancel_requested
}
CALL (kept) {
  UNWIND $lanes AS lane
  MATCH (t:Task {running_lane: lane, session: $session}) USING INDEX SEEK t:Task(running_lane, session)
  WHERE NOT t.uid IN $known AND t.started_at < timestamp() - $stranger_age_ms
  RETURN collect([t.uid, t.claim_token]) AS strangers
}
RETURN [claim IN $claims WHERE NOT claim.uid IN kept | claim.uid] AS lost, cancel_requested, strangers

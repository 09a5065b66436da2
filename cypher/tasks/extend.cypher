// Lengthen one lease before the holder's own transaction, which ends with its finish. Kept out of the beats from then on.
// params: uid, token, lease_ms
// returns: uid (no row: the claim is lost)
// mode: write
MATCH (t:Task {uid: $uid})
SET t.lock_v = 0
WITH t WHERE t.status = 'running' AND t.claim_token = $token
SET t.lease_expires_at = timestamp() + $lease_ms
RETURN t.uid AS uid

// What the holder says about how far it is.
// params: uid, token, progress (JSON text)
// returns: uid (no row: the claim is lost)
// mode: write
MATCH (t:Task {uid: $uid})
SET t.lock_v = 0
WITH t WHERE t.status = 'running' AND t.claim_token = $token
SET t.progress = $progress, t.progress_at = timestamp()
RETURN t.uid AS uid

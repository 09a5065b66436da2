// After a commit whose answer was lost: what became of a claim, read under the task's lock, which a commit that is still under
// way holds.
// params: uid, token
// returns: status, mine (whether the claim still runs), outcome (what this token ended as; null: nothing yet)
// mode: write
MATCH (t:Task {uid: $uid})
SET t.lock_v = 0
WITH t WHERE t.status IS NOT NULL                        // else purged while this waited
RETURN t.status AS status, t.status = 'running' AND t.claim_token = $token AS mine,
  CASE WHEN t.last_token = $token THEN t.last_outcome END AS outcome

// Make a token count no more. It stays, so that nobody without a token is let in again.
// params: id, by
// returns: token (map) (no row: does not exist)
// mode: write
MATCH (t:Token {id: $id})
SET t.lock_v = 0
WITH t, t.revoked_at AS before, t.revoked_by AS whom
SET t.revoked_at = coalesce(before, timestamp()), t.revoked_by = coalesce(whom, $by)
RETURN t {.id, .name, .space, .scopes, .created_at, .created_by, .expires_at, .revoked_at, .revoked_by, .last_used_at, .uses} AS token

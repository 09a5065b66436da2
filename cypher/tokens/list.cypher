// All tokens, newest first.
// params: none
// returns: token (map), now
// mode: write (a follower may answer late)
MATCH (t:Token) WHERE t.id IS NOT NULL
RETURN t {.id, .name, .space, .scopes, .created_at, .created_by, .expires_at, .revoked_at, .revoked_by, .last_used_at, .uses} AS token,
  timestamp() AS now ORDER BY t.created_at DESC, t.id

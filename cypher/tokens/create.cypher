// Make a token.
// params: fields (map of properties), ttl_ms
// returns: token (map)
// mode: write
CREATE (t:Token)
SET t = $fields, t.created_at = timestamp(), t.expires_at = timestamp() + $ttl_ms, t.uses = 0
RETURN t {.id, .name, .space, .scopes, .created_at, .created_by, .expires_at, .revoked_at, .revoked_by, .last_used_at, .uses} AS token

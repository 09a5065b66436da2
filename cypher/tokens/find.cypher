// The token with this tag, and whether any was ever made.
// params: tag (null: none was presented)
// returns: token (map, or null), tag, made (whether there is any token), now
// mode: write (a follower may answer late)
OPTIONAL MATCH (t:Token {tag: $tag})
RETURN t {.id, .name, .space, .scopes, .created_at, .created_by, .expires_at, .revoked_at, .revoked_by, .last_used_at, .uses} AS token,
  t.tag AS tag, EXISTS { MATCH (any:Token) WHERE any.id IS NOT NULL } AS made, timestamp() AS now

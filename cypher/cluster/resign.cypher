// Give a lease back, if it is ours.
// params: name, holder
// returns: name (no row: it was not ours)
// mode: write
MATCH (l:Lease {name: $name})
SET l.lock_v = 0
WITH l WHERE l.holder = $holder
SET l.expires_at = 0
RETURN l.name AS name

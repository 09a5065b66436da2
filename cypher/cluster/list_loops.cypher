// When each loop last did its work.
// params: none
// returns: name, worker, last_pass_at, detail
// mode: read
MATCH (l:Loop) WHERE l.name IS NOT NULL
RETURN l.name AS name, l.worker AS worker, l.last_pass_at AS last_pass_at, l.detail AS detail ORDER BY l.name

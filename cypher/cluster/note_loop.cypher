// When a loop last did its work, and where.
// params: name, worker, detail
// returns: name
// mode: write
MERGE (l:Loop {name: $name})
SET l.worker = $worker, l.last_pass_at = timestamp(), l.detail = $detail
RETURN l.name AS name

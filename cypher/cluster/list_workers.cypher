// Workers that count as alive.
// params: none
// returns: worker (map), now
// mode: read
MATCH (w:Worker) WHERE w.id IS NOT NULL
RETURN w {.*} AS worker, timestamp() AS now ORDER BY w.id

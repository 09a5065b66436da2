// A worker process leaves.
// params: worker
// returns: n
// mode: write
MATCH (w:Worker {id: $worker})
DELETE w
RETURN count(*) AS n

// Delete gates that no task has any more and that no enqueue has needed for an hour. Gates that a person set stay.
// params: n
// returns: n
// mode: write
MATCH (g:Gate) WHERE g.used_at < timestamp() - 3600000 AND NOT EXISTS { MATCH (t:Task {space: g.space, gate: g.key}) }
WITH g ORDER BY g.used_at LIMIT $n
WITH g ORDER BY g.space, g.key
SET g.lock_v = 0
WITH g WHERE g.used_at < timestamp() - 3600000           // an enqueue that needs it has said so before it writes its task
DELETE g
RETURN count(*) AS n

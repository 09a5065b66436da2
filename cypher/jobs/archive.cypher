// Drop the heavy text of completed tasks that ended before a time: payload, result, log and traceback. Again while n rows come back.
// params: before (epoch ms), n
// returns: n
// mode: write
MATCH (t:Task) WHERE t.finished_at < $before AND t.archived_at IS NULL AND t.status = 'completed'
WITH t ORDER BY t.finished_at LIMIT $n
WITH t ORDER BY t.uid
SET t.lock_v = 0
WITH t WHERE t.status = 'completed' AND t.archived_at IS NULL
SET t.archived_at = timestamp(), t.payload = NULL, t.result = NULL, t.progress = NULL
WITH t
CALL (t) {
  MATCH (t)-[:ATTEMPT]->(a:Attempt)
  SET a.log = NULL, a.traceback = NULL, a.result = NULL
}
RETURN count(t) AS n

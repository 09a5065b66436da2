// Exact counts: live tasks from the indexes that hold only them, terminal ones from the counters.
// params: space
// returns: status, lane, type, n; of pending ones also oldest (epoch ms of the arrival of the oldest), bucket and waiting (at a gate)
// mode: read
CALL () {
  MATCH (t:Task) WHERE t.type IS NOT NULL AND t.ready IS NOT NULL AND t.rank IS NOT NULL AND t.space = $space
  RETURN 'pending' AS status, t.lane AS lane, t.type AS type, count(*) AS n, min(t.rank % 10000000000000000) / 1000 AS oldest, t.ready AS bucket, false AS waiting
  UNION ALL
  MATCH (t:Task) WHERE t.space = $space AND t.gate_waiting IS NOT NULL AND t.prio_bucket IS NOT NULL AND t.rank IS NOT NULL
  RETURN 'pending' AS status, t.lane AS lane, t.type AS type, count(*) AS n, null AS oldest, null AS bucket, true AS waiting
  UNION ALL
  MATCH (t:Task) WHERE t.running_lane IS NOT NULL AND t.session IS NOT NULL AND t.space = $space
  RETURN 'running' AS status, t.running_lane AS lane, t.type AS type, count(*) AS n, null AS oldest, null AS bucket, false AS waiting
  UNION ALL
  MATCH (t:Task) WHERE t.due_at IS NOT NULL AND t.space = $space
  RETURN 'scheduled' AS status, t.lane AS lane, t.type AS type, count(*) AS n, null AS oldest, null AS bucket, false AS waiting
  UNION ALL
  MATCH (t:Task) WHERE t.deps_left IS NOT NULL AND t.space = $space
  RETURN 'blocked' AS status, t.lane AS lane, t.type AS type, count(*) AS n, null AS oldest, null AS bucket, false AS waiting
  UNION ALL
  MATCH (t:Task) WHERE t.unsettled IS NOT NULL AND t.deps_left IS NULL AND t.space = $space
  RETURN 'blocked' AS status, t.lane AS lane, t.type AS type, count(*) AS n, null AS oldest, null AS bucket, false AS waiting
  UNION ALL
  MATCH (c:Stat) WHERE c.key IS NOT NULL AND c.space = $space
  RETURN c.status AS status, c.lane AS lane, c.type AS type, sum(c.n) AS n, null AS oldest, null AS bucket, false AS waiting
}
WITH status, lane, type, n, oldest, bucket, waiting WHERE n <> 0
RETURN status, lane, type, n, oldest, bucket, waiting ORDER BY status, lane, type, bucket

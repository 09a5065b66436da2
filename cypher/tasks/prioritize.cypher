// Change bucket and weight of tasks that are not over; rank keeps the time of arrival, ready follows where the task has it.
// params: rows [{uid, prio_bucket, weight (null: as it is)}]
// returns: uids [changed]
// mode: write
UNWIND $rows AS r
MATCH (t:Task {uid: r.uid})
WITH t, r ORDER BY t.uid
SET t.lock_v = 0
WITH t, r, t.rank % 10000000000000000 AS arrived, t.ready IS NOT NULL AS is_ready, coalesce(r.weight, t.weight) AS weight
WHERE t.status IN ['pending', 'scheduled', 'blocked', 'running']
SET t.prio_bucket = r.prio_bucket, t.weight = weight, t.rank = (400 - weight) * 10000000000000000 + arrived,
    t.ready = CASE WHEN is_ready THEN r.prio_bucket END
RETURN collect(t.uid) AS uids

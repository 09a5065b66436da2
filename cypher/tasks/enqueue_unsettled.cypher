// Enqueue inside a user's transaction. No lock is taken on any task that exists, not even at commit, so what the new tasks wait
// for is kept as text; tasks/settle makes the edges after the commit.
// params: rows [as tasks/enqueue, and after ['<uid> <on_failure>'], spawned_by]
// returns: n, missing [uids waited for that do not exist]: when there are any, nothing was written
// mode: write
CALL () {
  UNWIND $rows AS r
  UNWIND r.after AS after
  WITH DISTINCT split(after, ' ')[0] AS uid
  OPTIONAL MATCH (p:Task {uid: uid})
  RETURN collect(CASE WHEN p IS NULL THEN uid END) AS missing
}
CALL (missing) {
  WITH missing WHERE missing = []
  UNWIND range(0, size($rows) - 1) AS place
  WITH $rows[place] AS r, place, timestamp() AS now
  WITH r, place, now, coalesce(r.eta, now + r.delay_ms) AS eta
  CREATE (t:Task {uid: r.uid, id: coalesce(r.id, r.uid), space: r.space, type: r.type, lane: r.lane,
    prio_bucket: r.prio_bucket, weight: r.weight, rank: (400 - r.weight) * 10000000000000000 + now * 1000 + place,
    payload: r.payload, source: r.source, gate: r.gate, trace: r.trace, eta: eta, key: r.key,
    live_key: CASE WHEN r.key IS NOT NULL THEN 'u:' + r.space + ':' + r.key END,
    attempts: 0, claims: 0, max_attempts: r.max_attempts, enqueued_at: now, lock_v: 0,
    status: 'blocked', unsettled: now, after: r.after, spawned_by: r.spawned_by})
  RETURN count(t) AS n
}
RETURN n, missing

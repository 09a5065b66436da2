// Enqueue inside a user's transaction. No lock is taken on any task that exists, not even at commit, so what the new tasks wait
// for is kept as text; tasks/settle makes the edges after the commit.
// params: rows [as tasks/enqueue, and after ['<uid> <on_failure>'], spawned_by], best_effort [names of lanes with a cap]
// returns: n; missing [uids waited for that are not in the space of who waits], misplaced [uids of rows that do not come after what
//   they wait for], best_effort [parents in a lane with a cap]: when there are any, nothing was written
// mode: write
CALL () {                                                // space and lane of a task never change: no lock is needed
  WITH [r IN $rows | r.uid] AS own
  UNWIND $rows AS r
  UNWIND r.after AS after
  WITH DISTINCT own, r.space AS space, split(after, ' ')[0] AS uid
  OPTIONAL MATCH (p:Task {uid: uid}) WHERE p.space = space
  RETURN collect(CASE WHEN p IS NULL AND NOT uid IN own THEN uid END) AS missing,
    collect(CASE WHEN p.lane IN $best_effort THEN uid END) AS best_effort
}
WITH missing, best_effort, [r IN $rows WHERE any(a IN r.after WHERE split(a, ' ')[0] >= r.uid) | r.uid] AS misplaced
WITH missing, best_effort, misplaced, CASE WHEN missing + best_effort + misplaced = [] THEN $rows ELSE [] END AS rows
CALL (rows) {
  UNWIND range(0, size(rows) - 1) AS place
  WITH rows[place] AS r, place, timestamp() AS now
  WITH r, place, now, coalesce(r.eta, now + r.delay_ms) AS eta
  CREATE (t:Task {uid: r.uid, id: coalesce(r.id, r.uid), space: r.space, type: r.type, lane: r.lane,
    prio_bucket: r.prio_bucket, weight: r.weight, rank: (400 - r.weight) * 10000000000000000 + now * 1000 + place,
    payload: r.payload, source: r.source, gate: r.gate, trace: r.trace, eta: eta, key: r.key,
    live_key: CASE WHEN r.key IS NOT NULL THEN 'u:' + r.space + ':' + r.key END,
    attempts: 0, claims: 0, max_attempts: r.max_attempts, enqueued_at: now, lock_v: 0,
    status: 'blocked', unsettled: now, after: r.after, spawned_by: r.spawned_by})
  RETURN count(t) AS n
}
RETURN n, missing, misplaced, best_effort

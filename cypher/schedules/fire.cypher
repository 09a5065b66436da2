// Fire planned slots of one schedule and advance it, only while next_run and version are what was read. A slot that is not after
// last_slot is not fired again, a tick that exists is not made twice, and the schedule advances in every case.
// params: space, name, next_run, version (as read), ticks [{slot, uid, eta}] (in slot order), new_next_run (null: no more), missed
// returns: no row: lost, another process fired it or it was changed; fired [[slot, uid, created]], coalesced (uid of the tick that
//   waits already, or null), gates [[space, key]] to admit
// mode: write
MATCH (s:Schedule {space: $space, name: $name})
SET s.lock_v = 0
WITH s, timestamp() AS now, s.last_slot AS last_slot, s.overlap = 'coalesce' AND s.catch_up <> 'all' AS coalesces
WHERE s.enabled AND s.next_run = $next_run AND s.version = $version
CALL (s) {                                               // a run of its own at a time: a gate of 1
  WITH s WHERE s.overlap = 'coalesce'
  MERGE (g:Gate {space: s.space, key: 's:' + s.name})
    ON CREATE SET g.limit = 1
}
CALL (s) {                                               // un-run ticks, seen under their locks
  MATCH (t:Task {space: s.space, tick_of: s.name})
  WITH t ORDER BY t.uid
  SET t.lock_v = 0
  WITH t WHERE t.tick_of IS NOT NULL
  RETURN collect(t)[-1] AS waiting
}
WITH s, now, coalesces, last_slot, waiting, [tick IN $ticks WHERE tick.slot > coalesce(last_slot, -1)] AS ticks
WITH s, now, last_slot, waiting, ticks, CASE WHEN coalesces AND waiting IS NOT NULL THEN [] WHEN coalesces THEN ticks[-1..] ELSE ticks END AS fresh
CALL (s, now, fresh) {
  UNWIND fresh AS tick
  MERGE (t:Task {space: s.space, id: 'sched:' + s.name + ':' + toString(tick.slot)})
    ON CREATE SET t.uid = tick.uid, t.type = s.type, t.lane = s.lane, t.schedule = s.name, t.slot = tick.slot, t.tick_of = s.name,
      t.prio_bucket = s.prio_bucket, t.weight = 0, t.rank = 400 * 10000000000000000 + now * 1000,
      t.payload = s.payload, t.eta = tick.eta, t.attempts = 0, t.claims = 0, t.max_attempts = 3, t.enqueued_at = now, t.lock_v = 0,
      t.gate = CASE WHEN s.overlap = 'coalesce' THEN 's:' + s.name END,
      t.status = CASE WHEN tick.eta > now THEN 'scheduled' ELSE 'pending' END,
      t.due_at = CASE WHEN tick.eta > now THEN tick.eta END,
      t.ready = CASE WHEN tick.eta > now OR s.overlap = 'coalesce' THEN NULL ELSE s.prio_bucket END,
      t.gate_waiting = CASE WHEN s.overlap = 'coalesce' AND NOT coalesce(tick.eta > now, false) THEN 's:' + s.name END
  RETURN collect([tick.slot, t.uid, t.uid = tick.uid]) AS fired
}
WITH s, now, waiting, ticks, fresh, fired, last_slot, coalesce(s.missed, 0) + $missed AS missed
SET s.next_run = $new_next_run, s.last_run = CASE WHEN ticks <> [] THEN now ELSE s.last_run END, s.last_slot = coalesce(ticks[-1].slot, last_slot),
    s.missed = missed
RETURN fired, CASE WHEN ticks <> [] AND fresh = [] THEN waiting.uid END AS coalesced,
  CASE WHEN s.overlap = 'coalesce' THEN [[s.space, 's:' + s.name]] ELSE [] END AS gates

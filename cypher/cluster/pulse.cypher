// One read: the server's clock, the leader, and the heads of all that can become due.
// params: lease (name of the leader's lease)
// returns: now, holder, term, lease_until; due_at, next_run, lease_expires_at, unsettled, release_pending, cascade_pending,
//   revive_pending, gate_at (null: none)
// mode: write (a follower may answer late)
CALL () {
  MATCH (t:Task) WHERE t.due_at IS NOT NULL
  WITH t.due_at AS head ORDER BY t.due_at LIMIT 1
  RETURN collect(head)[0] AS due_at
}
CALL (due_at) {
  MATCH (s:Schedule) WHERE s.next_run IS NOT NULL
  WITH s.next_run AS head ORDER BY s.next_run LIMIT 1
  RETURN collect(head)[0] AS next_run
}
CALL (next_run) {
  MATCH (t:Task) WHERE t.lease_expires_at IS NOT NULL
  WITH t.lease_expires_at AS head ORDER BY t.lease_expires_at LIMIT 1
  RETURN collect(head)[0] AS lease_expires_at
}
CALL (lease_expires_at) {
  MATCH (t:Task) WHERE t.unsettled IS NOT NULL
  WITH t.unsettled AS head ORDER BY t.unsettled LIMIT 1
  RETURN collect(head)[0] AS unsettled
}
CALL (unsettled) {
  MATCH (t:Task) WHERE t.release_pending IS NOT NULL
  WITH t.release_pending AS head ORDER BY t.release_pending LIMIT 1
  RETURN collect(head)[0] AS release_pending
}
CALL (release_pending) {
  MATCH (t:Task) WHERE t.cascade_pending IS NOT NULL
  WITH t.cascade_pending AS head ORDER BY t.cascade_pending LIMIT 1
  RETURN collect(head)[0] AS cascade_pending
}
CALL (cascade_pending) {
  MATCH (t:Task) WHERE t.revive_pending IS NOT NULL
  WITH t.revive_pending AS head ORDER BY t.revive_pending LIMIT 1
  RETURN collect(head)[0] AS revive_pending
}
CALL (revive_pending) { MATCH (g:Gate) WHERE g.next_at IS NOT NULL WITH g.next_at AS head ORDER BY g.next_at LIMIT 1 RETURN collect(head)[0] AS gate_at }
OPTIONAL MATCH (l:Lease {name: $lease})
RETURN timestamp() AS now, l.holder AS holder, l.term AS term, l.expires_at AS lease_until,
  due_at, next_run, lease_expires_at, unsettled, release_pending, cascade_pending, revive_pending, gate_at

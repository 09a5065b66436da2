// Walk all tasks in pages of uid and make claimable again what is pending and has neither ready nor a gate to wait at.
// params: after (last uid of the page before, '' at first), n (page)
// returns: last (uid, null at the end), healed [uids]
// mode: write
CALL () {
  MATCH (t:Task) WHERE t.uid > $after
  RETURN t ORDER BY t.uid LIMIT $n
}
WITH collect(t) AS page
CALL (page) {
  UNWIND page AS t
  WITH t WHERE t.status = 'pending' AND t.ready IS NULL AND t.gate_waiting IS NULL
  WITH t ORDER BY t.uid
  SET t.lock_v = 0
  WITH collect(t) AS locked                              // a node out of a list keeps what was read before the lock: take it anew
  UNWIND locked AS t
  WITH t WHERE t.status = 'pending' AND t.ready IS NULL AND t.gate_waiting IS NULL
  SET t.ready = CASE WHEN t.gate IS NULL OR t.gate_held IS NOT NULL THEN t.prio_bucket END,
      t.gate_waiting = CASE WHEN t.gate_held IS NULL THEN t.gate END
  RETURN collect(t.uid) AS healed
}
RETURN page[-1].uid AS last, healed

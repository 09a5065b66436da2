// Where tasks stand, for those who wait for them.
// params: uids
// returns: uid, id, status, result, last_error, progress, attempts (no row: the task is gone)
// mode: read
UNWIND $uids AS uid
MATCH (t:Task {uid: uid})
RETURN t.uid AS uid, t.id AS id, t.status AS status, t.result AS result, t.last_error AS last_error, t.progress AS progress,
  t.attempts AS attempts

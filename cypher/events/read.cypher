// What happened to the tasks of a space: enqueued, started, ended, each from a place on, in order of time and uid.
// params: space, enqueued {at, uid}, started {at, uid}, ended {at, uid} (epoch ms and uid of the last one known), n
// returns: now, enqueued [maps], started [maps], ended [maps]: uid, id, type, status, lane, schedule, at; each the next n
// mode: write (a follower may answer late)
CALL () {
  MATCH (t:Task) WHERE t.enqueued_at >= $enqueued.at AND t.space = $space
    AND (t.enqueued_at > $enqueued.at OR t.uid > $enqueued.uid)
  WITH t ORDER BY t.enqueued_at, t.uid LIMIT $n
  RETURN collect(t {.uid, .id, .type, .status, .lane, .schedule, at: t.enqueued_at}) AS enqueued
}
CALL (enqueued) {
  CALL () {
    MATCH (t:Task) WHERE t.running_lane IS NOT NULL AND t.session IS NOT NULL RETURN t
    UNION
    MATCH (t:Task) WHERE t.finished_at >= $started.at RETURN t
  }
  WITH t WHERE t.space = $space AND (t.started_at > $started.at OR t.started_at = $started.at AND t.uid > $started.uid)
  WITH t ORDER BY t.started_at, t.uid LIMIT $n
  RETURN collect(t {.uid, .id, .type, .status, .lane, .schedule, at: t.started_at}) AS started
}
CALL (started) {
  MATCH (t:Task) WHERE t.finished_at >= $ended.at AND t.space = $space
    AND (t.finished_at > $ended.at OR t.uid > $ended.uid)
  WITH t ORDER BY t.finished_at, t.uid LIMIT $n
  RETURN collect(t {.uid, .id, .type, .status, .lane, .schedule, at: t.finished_at}) AS ended
}
RETURN timestamp() AS now, enqueued, started, ended

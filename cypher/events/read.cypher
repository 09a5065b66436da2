// What happened to the tasks of a space after an instant: enqueued, started, ended.
// params: space, after (epoch ms), floor (a uid below those of that time), n
// returns: now, enqueued [maps], started [maps], ended [maps]: uid, id, type, status, lane, schedule, at; each the oldest n
// mode: write (a follower may answer late)
CALL () {
  MATCH (t:Task) WHERE t.uid >= $floor AND t.space = $space AND t.enqueued_at > $after
  WITH t ORDER BY t.uid LIMIT $n
  RETURN collect(t {.uid, .id, .type, .status, .lane, .schedule, at: t.enqueued_at}) AS enqueued
}
CALL (enqueued) {
  CALL () {
    MATCH (t:Task) WHERE t.running_lane IS NOT NULL AND t.session IS NOT NULL AND t.space = $space AND t.started_at > $after
    RETURN t
    UNION
    MATCH (t:Task) WHERE t.finished_at > $after AND t.space = $space AND t.started_at > $after
    RETURN t
  }
  WITH t ORDER BY t.started_at LIMIT $n
  RETURN collect(t {.uid, .id, .type, .status, .lane, .schedule, at: t.started_at}) AS started
}
CALL (started) {
  MATCH (t:Task) WHERE t.finished_at > $after AND t.space = $space
  WITH t ORDER BY t.finished_at LIMIT $n
  RETURN collect(t {.uid, .id, .type, .status, .lane, .schedule, at: t.finished_at}) AS ended
}
RETURN timestamp() AS now, enqueued, started, ended

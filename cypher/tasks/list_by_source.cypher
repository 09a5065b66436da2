// Tasks about one source, newest first, a page at a time.
// params: source, and as tasks/list
// returns: task (map)
// mode: read
MATCH (t:Task {source: $source}) USING INDEX SEEK t:Task(source)
WHERE t.uid < $before AND t.space = $space AND ($statuses IS NULL OR t.status IN $statuses) AND ($types IS NULL OR t.type IN $types)
  AND ($schedule IS NULL OR t.schedule = $schedule) AND ($lane IS NULL OR t.lane = $lane) AND ($since IS NULL OR t.enqueued_at >= $since)
WITH t ORDER BY t.uid DESC LIMIT $n
RETURN t {.uid, .id, .space, .type, .lane, .status, .prio_bucket, .weight, .eta, .due_at, .attempts, .max_attempts, .claims, .worker_id,
  .lease_expires_at, .last_error, .schedule, .slot, .source, .key, .enqueued_at, .started_at, .finished_at, .cancelled_because,
  .cancel_requested_at, .deps_left, .gate_waiting} AS task

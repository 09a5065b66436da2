// Make a schedule, or bring back a deleted one; last_slot stays, so no slot fires twice.
// params: space, name, fields (map of properties), by, note
// returns: version (no row: it exists)
// mode: write
MERGE (s:Schedule {space: $space, name: $name})
  ON CREATE SET s.version = 0, s.deleted_at = 0
SET s.lock_v = 0
WITH s, s.version AS version WHERE s.deleted_at IS NOT NULL
SET s += $fields, s.version = version + 1, s.deleted_at = NULL, s.created_at = timestamp(), s.changed_at = timestamp(),
    s.consecutive_failures = 0, s.backoff_until = NULL, s.last_run = NULL, s.last_tick = NULL, s.missed = 0
CREATE (s)-[:REVISION]->(:ScheduleRevision {space: $space, schedule: $name, number: version + 1, at: timestamp(), by: $by, note: $note,
  trigger: s.trigger, timezone: s.timezone, enabled: s.enabled, payload: s.payload, prio_bucket: s.prio_bucket})
RETURN version + 1 AS version

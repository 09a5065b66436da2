// Change a schedule, only while its version is what was read.
// params: space, name, version, fields (map of properties), by, note
// returns: version (no row: changed meanwhile, or gone)
// mode: write
MATCH (s:Schedule {space: $space, name: $name})
SET s.lock_v = 0
WITH s, s.version AS version WHERE s.version = $version AND s.deleted_at IS NULL
SET s += $fields, s.version = version + 1, s.changed_at = timestamp()
CREATE (s)-[:REVISION]->(:ScheduleRevision {space: $space, schedule: $name, number: version + 1, at: timestamp(), by: $by, note: $note,
  trigger: s.trigger, timezone: s.timezone, enabled: s.enabled, payload: s.payload, prio_bucket: s.prio_bucket})
RETURN version + 1 AS version

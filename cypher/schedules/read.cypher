// Schedules that are not deleted.
// params: space, names (null: all)
// returns: schedule (map), now, waiting (id of the tick that has not run), running (ids of ticks under way)
// mode: write (a follower may answer late)
MATCH (s:Schedule) WHERE s.space = $space AND s.name IS NOT NULL AND s.deleted_at IS NULL AND ($names IS NULL OR s.name IN $names)
CALL (s) {
  MATCH (t:Task {space: s.space, tick_of: s.name}) USING INDEX SEEK t:Task(space, tick_of)
  RETURN collect(t.id)[0] AS waiting
}
RETURN s {.*} AS schedule, timestamp() AS now, waiting ORDER BY s.name

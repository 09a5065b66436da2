// The last changes of one schedule, newest first.
// params: space, name, n
// returns: revision (map)
// mode: read
MATCH (s:Schedule {space: $space, name: $name})-[:REVISION]->(r:ScheduleRevision)
RETURN r {.number, .at, .by, .note, .trigger, .timezone, .enabled, .prio_bucket} AS revision ORDER BY r.number DESC LIMIT $n

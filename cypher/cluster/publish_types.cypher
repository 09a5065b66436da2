// Write the types that a process handles into the cluster-wide type table: the lane of the newest deployment stands.
// params: types [{name, lane, limit, rate, period_ms}]
// returns: n
// mode: write
UNWIND $types AS type
WITH type ORDER BY type.name
MERGE (k:TaskType {name: type.name})
  ON CREATE SET k.created_at = timestamp()
SET k.lane = type.lane, k.limit = type.limit, k.rate = type.rate, k.period_ms = type.period_ms, k.published_at = timestamp()
RETURN count(k) AS n

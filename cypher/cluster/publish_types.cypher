// Write the types that a process handles into the cluster-wide type table: lane, limits and attempts of the newest deployment stand.
// params: types [{name, lane, limit, rate, period_ms, max_attempts (null: the setting's)}]
// returns: n
// mode: write
UNWIND $types AS type
WITH type ORDER BY type.name
MERGE (k:TaskType {name: type.name})
  ON CREATE SET k.created_at = timestamp()
SET k.lane = type.lane, k.limit = type.limit, k.rate = type.rate, k.period_ms = type.period_ms,
    k.max_attempts = type.max_attempts, k.published_at = timestamp()
RETURN count(k) AS n

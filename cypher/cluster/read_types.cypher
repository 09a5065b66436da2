// The type table.
// params: none
// returns: name, lane, limit, rate, period_ms, max_attempts, paused_at, paused_by, paused_why
// mode: write (a follower may answer late)
MATCH (k:TaskType) WHERE k.name IS NOT NULL
RETURN k.name AS name, k.lane AS lane, k.limit AS limit, k.rate AS rate, k.period_ms AS period_ms, k.max_attempts AS max_attempts,
  k.paused_at AS paused_at, k.paused_by AS paused_by, k.paused_why AS paused_why
ORDER BY k.name

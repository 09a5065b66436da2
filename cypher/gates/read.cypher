// Gates with what they hold and who waits.
// params: space
// returns: key, limit, rate, period_ms, held, waiting
// mode: read
MATCH (g:Gate) WHERE g.space = $space AND g.key IS NOT NULL
CALL (g) {
  MATCH (t:Task {space: g.space, gate_held: g.key})
  RETURN count(t) AS held
}
CALL (g) {
  MATCH (t:Task {space: g.space, gate_waiting: g.key}) WHERE t.prio_bucket IS NOT NULL AND t.rank IS NOT NULL
  RETURN count(t) AS waiting
}
RETURN g.key AS key, g.limit AS limit, g.rate AS rate, g.period_ms AS period_ms, held, waiting ORDER BY g.key

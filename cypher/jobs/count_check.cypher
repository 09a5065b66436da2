// Compare the counters of terminal tasks with the tasks themselves. Reads all history: a schedule runs it, rarely.
// params: none
// returns: space, lane, type, status, counted, found: a row where the two differ
// mode: read
CALL () {
  CALL () {
    MATCH (t:Task) WHERE t.finished_at IS NOT NULL
    RETURN t.space AS space, t.lane AS lane, t.type AS type, t.status AS status, count(*) AS found, 0 AS counted
    UNION ALL
    MATCH (c:Stat) WHERE c.key IS NOT NULL
    RETURN c.space AS space, c.lane AS lane, c.type AS type, c.status AS status, 0 AS found, sum(c.n) AS counted
  }
  RETURN space, lane, type, status, sum(found) AS found, sum(counted) AS counted
}
WITH space, lane, type, status, found, counted WHERE found <> counted
RETURN space, lane, type, status, counted, found

// Due schedules, with all that planning needs, and the server's now. A next_run can be ahead already: the row was found by an
// older one.
// params: n
// returns: schedule (map), now
// mode: write (a follower may answer late)
MATCH (s:Schedule) WHERE s.next_run <= timestamp()
WITH s ORDER BY s.next_run LIMIT $n
WHERE s.enabled AND coalesce(s.backoff_until, 0) <= timestamp()
RETURN s {.*} AS schedule, timestamp() AS now

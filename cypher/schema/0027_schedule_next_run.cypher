// Due schedules; a disabled one has no next_run.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX schedule_next_run IF NOT EXISTS FOR (s:Schedule) ON (s.next_run)

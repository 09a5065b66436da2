// Runs in order of time.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX attempt_ended IF NOT EXISTS FOR (a:Attempt) ON (a.ended_at)

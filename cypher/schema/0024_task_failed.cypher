// The list that people look at first.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX task_failed IF NOT EXISTS FOR (t:Task) ON (t.failed_at)

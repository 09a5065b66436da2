// Events in order of time.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX task_enqueued IF NOT EXISTS FOR (t:Task) ON (t.enqueued_at)

// Promotion; only scheduled tasks have due_at.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX task_due IF NOT EXISTS FOR (t:Task) ON (t.due_at)

// Retry brings back what was cancelled because of a task; only those have it.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX task_cancelled_because IF NOT EXISTS FOR (t:Task) ON (t.cancelled_because)

// What cascade_step owes.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX task_cascade_pending IF NOT EXISTS FOR (t:Task) ON (t.cascade_pending)

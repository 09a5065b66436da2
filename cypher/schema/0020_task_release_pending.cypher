// What release_step owes.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX task_release_pending IF NOT EXISTS FOR (t:Task) ON (t.release_pending)

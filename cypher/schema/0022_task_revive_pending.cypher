// What revive_step owes.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX task_revive_pending IF NOT EXISTS FOR (t:Task) ON (t.revive_pending)

// Purge and archive: the one index that holds history.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX task_finished IF NOT EXISTS FOR (t:Task) ON (t.finished_at)

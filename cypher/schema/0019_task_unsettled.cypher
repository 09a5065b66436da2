// What settle owes.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX task_unsettled IF NOT EXISTS FOR (t:Task) ON (t.unsettled)

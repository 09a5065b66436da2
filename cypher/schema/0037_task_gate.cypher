// Tasks that have a gate, whatever their state.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX task_gate IF NOT EXISTS FOR (t:Task) ON (t.space, t.gate)

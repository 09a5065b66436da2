// Admission in order; only tasks that wait at a gate.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX task_gate_waiting IF NOT EXISTS FOR (t:Task) ON (t.space, t.gate_waiting, t.prio_bucket, t.rank)

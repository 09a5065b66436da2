// Admission counts; only tasks that a gate let through.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX task_gate_held IF NOT EXISTS FOR (t:Task) ON (t.space, t.gate_held)

// Starts in a period, per gate; holds gated tasks only.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX task_gate_started IF NOT EXISTS FOR (t:Task) ON (t.space, t.gate, t.started_at)

// Claim; only pending and admitted tasks have ready.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX task_claim IF NOT EXISTS FOR (t:Task) ON (t.type, t.ready, t.rank)

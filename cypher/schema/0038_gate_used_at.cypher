// Gates that an enqueue made, by when it last needed them.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX gate_used_at IF NOT EXISTS FOR (g:Gate) ON (g.used_at)

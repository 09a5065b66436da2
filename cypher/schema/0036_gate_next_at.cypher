// Gates at which only a rate holds somebody back.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX gate_next_at IF NOT EXISTS FOR (g:Gate) ON (g.next_at)

// Coalesce and collapse; only ticks that have not run have tick_of.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX task_tick IF NOT EXISTS FOR (t:Task) ON (t.space, t.tick_of)

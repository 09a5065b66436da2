// Blocked sweep; only blocked tasks have deps_left.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX task_blocked IF NOT EXISTS FOR (t:Task) ON (t.deps_left)

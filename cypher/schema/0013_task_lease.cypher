// Reaper; only running tasks have a lease.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX task_lease IF NOT EXISTS FOR (t:Task) ON (t.lease_expires_at)

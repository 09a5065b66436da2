// Lane counts and what runs under one session; only running tasks have running_lane.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX task_running IF NOT EXISTS FOR (t:Task) ON (t.running_lane, t.session)

// One live task a key: u:<space>:<key> for users, s:… for kgsched itself.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT task_live_key IF NOT EXISTS FOR (t:Task) REQUIRE t.live_key IS UNIQUE

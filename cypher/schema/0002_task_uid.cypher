// Every lookup goes by uid, and the order of uids is the order of locks.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT task_uid IF NOT EXISTS FOR (t:Task) REQUIRE t.uid IS UNIQUE

// Keys that outlive their task.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT unique_key IF NOT EXISTS FOR (k:UniqueKey) REQUIRE (k.space, k.key) IS UNIQUE

// One node a loop: when it last did its work, and where.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT loop_name IF NOT EXISTS FOR (l:Loop) REQUIRE l.name IS UNIQUE

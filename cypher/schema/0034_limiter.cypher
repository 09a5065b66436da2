// One node a limiter that handlers use.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT limiter IF NOT EXISTS FOR (l:Limiter) REQUIRE (l.space, l.key) IS UNIQUE

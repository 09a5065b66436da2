// One gate a concurrency key.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT gate_key IF NOT EXISTS FOR (g:Gate) REQUIRE (g.space, g.key) IS UNIQUE

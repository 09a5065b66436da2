// Counters of terminal tasks: <shard>|<space>|<lane>|<type>|<status>.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT stat_key IF NOT EXISTS FOR (c:Stat) REQUIRE c.key IS UNIQUE

// One node a lane: its cap and whether it is paused.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT lane_name IF NOT EXISTS FOR (l:Lane) REQUIRE l.name IS UNIQUE

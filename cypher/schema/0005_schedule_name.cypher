// Schedule names are unique in their space.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT schedule_name IF NOT EXISTS FOR (s:Schedule) REQUIRE (s.space, s.name) IS UNIQUE

// Every change of a schedule is kept, numbered.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT revision IF NOT EXISTS FOR (r:ScheduleRevision) REQUIRE (r.space, r.schedule, r.number) IS UNIQUE

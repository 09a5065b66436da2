// Sources are found and merged by id.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT research_source_id IF NOT EXISTS FOR (n:Source) REQUIRE n.id IS UNIQUE

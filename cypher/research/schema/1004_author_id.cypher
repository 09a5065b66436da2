// Authors are found and merged by id.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT research_author_id IF NOT EXISTS FOR (n:Author) REQUIRE n.id IS UNIQUE

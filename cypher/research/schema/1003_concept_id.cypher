// Concepts are found and merged by id.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT research_concept_id IF NOT EXISTS FOR (n:Concept) REQUIRE n.id IS UNIQUE

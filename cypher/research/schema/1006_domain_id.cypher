// Domains are found and merged by id.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT research_domain_id IF NOT EXISTS FOR (n:Domain) REQUIRE n.id IS UNIQUE

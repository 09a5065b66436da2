// Each paper is graded once, whoever looks first.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT research_seen_paper_id IF NOT EXISTS FOR (n:SeenPaper) REQUIRE n.arxiv_id IS UNIQUE

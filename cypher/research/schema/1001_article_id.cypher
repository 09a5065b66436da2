// Articles are found and merged by id.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT research_article_id IF NOT EXISTS FOR (n:Article) REQUIRE n.id IS UNIQUE

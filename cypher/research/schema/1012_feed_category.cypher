// One node a category, with the first day that was read of it.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT research_feed_category IF NOT EXISTS FOR (n:Feed) REQUIRE n.category IS UNIQUE

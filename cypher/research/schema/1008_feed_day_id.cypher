// One record a category and announcement day.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT research_feed_day_id IF NOT EXISTS FOR (n:FeedDay) REQUIRE n.id IS UNIQUE

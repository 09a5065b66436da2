// One answer a key of a client.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT answer_key IF NOT EXISTS FOR (a:Answer) REQUIRE a.key IS UNIQUE

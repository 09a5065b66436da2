// How a token is found.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT token_tag IF NOT EXISTS FOR (t:Token) REQUIRE t.tag IS UNIQUE

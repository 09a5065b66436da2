// How people name a token.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT token_id IF NOT EXISTS FOR (t:Token) REQUIRE t.id IS UNIQUE

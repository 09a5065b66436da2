// One record a migration, so that two processes that migrate at once agree.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT migration_number IF NOT EXISTS FOR (m:Migration) REQUIRE m.number IS UNIQUE

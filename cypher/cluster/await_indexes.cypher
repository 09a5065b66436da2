// Wait until all indexes are filled.
// params: seconds
// returns: nothing
// mode: schema
CALL db.awaitIndexes($seconds)

// Migrations that this database has.
// params: none
// returns: number, name, by
// mode: write (a follower may answer late)
MATCH (m:Migration) WHERE m.number IS NOT NULL
RETURN m.number AS number, m.name AS name, m.by AS by ORDER BY m.number

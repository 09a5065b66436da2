// Record a migration that was carried out.
// params: number, name, by (version of kgsched)
// returns: number
// mode: write
MERGE (m:Migration {number: $number})
  ON CREATE SET m.name = $name, m.by = $by, m.at = timestamp()
RETURN m.number AS number

// Merge what papers share, each kind in the order of ids, so that two ingests cannot wait for each other.
// params: sources [{id, name, url}], domains [{id, name}], authors [{id, name}],
//   concepts [{id, name, kind (term | contribution), embedding, model, domain (id or null)}]
// returns: n
// mode: write
CALL () {
  UNWIND $sources AS r WITH r ORDER BY r.id
  MERGE (n:Source {id: r.id}) ON CREATE SET n.name = r.name, n.url = r.url, n.created_at = timestamp()
  SET n.used_at = timestamp()
  RETURN count(n) AS sources
}
CALL (sources) {
  UNWIND $domains AS r WITH r ORDER BY r.id
  MERGE (n:Domain {id: r.id}) ON CREATE SET n.name = r.name, n.created_at = timestamp()
  SET n.used_at = timestamp()
  RETURN count(n) AS domains
}
CALL (domains) {
  UNWIND $authors AS r WITH r ORDER BY r.id
  MERGE (n:Author {id: r.id}) ON CREATE SET n.name = r.name, n.created_at = timestamp()
  SET n.used_at = timestamp()
  RETURN count(n) AS authors
}
CALL (authors) {
  UNWIND $concepts AS r WITH r ORDER BY r.id
  MERGE (n:Concept {id: r.id})
    ON CREATE SET n.name = r.name, n.kind = r.kind, n.embedding = r.embedding, n.model = r.model, n.created_at = timestamp()
  SET n.used_at = timestamp()
  WITH n, r
  OPTIONAL MATCH (d:Domain {id: r.domain})
  FOREACH (domain IN CASE WHEN d IS NULL THEN [] ELSE [d] END | MERGE (n)-[:IN_DOMAIN]->(domain))
  RETURN count(n) AS concepts
}
RETURN sources + domains + authors + concepts AS n

// Link articles to concepts that research/merge_names merged.
// params: rows [{id, mentions [{id, weight, in_title}], contribution (id)}]
// returns: n
// mode: write
UNWIND $rows AS r
WITH r ORDER BY r.id
MATCH (a:Article {id: r.id})
CALL (a, r) {
  UNWIND r.mentions AS one
  MATCH (c:Concept {id: one.id})
  MERGE (a)-[m:MENTIONS]->(c)
  SET m.weight = one.weight, m.in_title = one.in_title
}
CALL (a, r) {
  MATCH (c:Concept {id: r.contribution})
  MERGE (a)-[:CONTRIBUTES]->(c)
}
RETURN count(a) AS n

// One task with all that can be told of it.
// params: space, id (or uid)
// returns: task (map), attempts [maps], waits_for [{id, type, status, on_failure, met}], dependents (count of those that wait), spawned
//   [ids], produced [{labels, id}], because (id of the task because of which it was cancelled); lists hold at most 100
// mode: read
CALL () {
  MATCH (t:Task {space: $space, id: $id}) RETURN t
  UNION
  MATCH (t:Task {uid: $id}) WHERE t.space = $space RETURN t
}
CALL (t) {
  OPTIONAL MATCH (t)-[:ATTEMPT]->(a:Attempt)
  WITH a ORDER BY a.number DESC, a.ended_at DESC LIMIT 100
  RETURN collect(a {.*}) AS attempts
}
CALL (t) {
  OPTIONAL MATCH (t)-[edge:DEPENDS_ON]->(p:Task)
  WITH edge, p ORDER BY p.uid LIMIT 100
  RETURN collect(CASE WHEN p IS NOT NULL THEN {id: p.id, type: p.type, status: p.status, on_failure: edge.on_failure, met: edge.met} END)
    AS waits_for
}
CALL (t) {
  OPTIONAL MATCH (t)-[:SPAWNED]->(c:Task)
  WITH c ORDER BY c.uid LIMIT 100
  RETURN collect(c.id) AS spawned
}
CALL (t) {
  OPTIONAL MATCH (t)-[:PRODUCED]->(x)
  WITH x LIMIT 100
  RETURN collect(CASE WHEN x IS NOT NULL THEN {labels: labels(x), id: x.id} END) AS produced
}
CALL (t) {
  OPTIONAL MATCH (b:Task {uid: t.cancelled_because})
  RETURN b.id AS because
}
RETURN t {.*} AS task, attempts, waits_for, COUNT { (t)<-[:DEPENDS_ON {met: false}]-() } AS dependents, spawned, produced, because

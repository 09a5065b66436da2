// Tasks by the ids that users see, or by uid.
// params: space, ids
// returns: asked, uid, id, status, type, schedule (no row for an id: no such task)
// mode: read
UNWIND $ids AS asked
CALL (asked) {
  MATCH (t:Task {space: $space, id: asked}) RETURN t
  UNION
  MATCH (t:Task {uid: asked}) WHERE t.space = $space RETURN t
}
RETURN asked, t.uid AS uid, t.id AS id, t.status AS status, t.type AS type, t.schedule AS schedule

// After an enqueue that met an existing uid, id or live key: which tasks those are.
// params: rows [{uid, id, space, key}]
// returns: asked (the row's uid), uid, id, status, type, payload, by (uid | id | key)
// mode: write (a follower may answer late)
UNWIND $rows AS r
CALL (r) {
  MATCH (t:Task {uid: r.uid}) RETURN t, 'uid' AS by
  UNION
  MATCH (t:Task {space: r.space, id: coalesce(r.id, r.uid)}) RETURN t, 'id' AS by
  UNION
  MATCH (t:Task {live_key: 'u:' + r.space + ':' + r.key}) RETURN t, 'key' AS by
}
RETURN r.uid AS asked, t.uid AS uid, t.id AS id, t.status AS status, t.type AS type, t.payload AS payload, by

// An unlocked look before a claim: heads of what is ready for a worker, and what capped lanes have free.
// params: rules {type: {lane}}, capped [lane names], n (heads a type and bucket)
// returns: ready [[type, bucket, [ranks]]] of types that are not paused, free [[lane, n]]
// mode: write (a follower may answer late)
CALL () {
  UNWIND keys($rules) AS name
  OPTIONAL MATCH (k:TaskType {name: name})
  OPTIONAL MATCH (l:Lane {name: $rules[name].lane})
  WITH name, k, l WHERE k.paused_at IS NULL AND l.paused_at IS NULL
  RETURN collect(name) AS open_types
}
CALL (open_types) {
  UNWIND open_types AS type
  UNWIND [0, 1, 2, 3] AS bucket
  CALL (type, bucket) {
    MATCH (t:Task {type: type, ready: bucket}) WHERE t.rank IS NOT NULL
    WITH t ORDER BY t.type, t.ready, t.rank LIMIT $n
    RETURN collect(t.rank) AS ranks
  }
  WITH type, bucket, ranks WHERE ranks <> []
  RETURN collect([type, bucket, ranks]) AS ready
}
CALL (ready) {
  UNWIND $capped AS name
  MATCH (l:Lane {name: name})
  CALL (l) {
    MATCH (r:Task {running_lane: l.name}) WHERE r.session IS NOT NULL
    RETURN count(r) AS running
  }
  WITH l.name AS lane, l.cap - running AS n WHERE l.cap IS NOT NULL
  RETURN collect([lane, n]) AS free
}
RETURN ready, free

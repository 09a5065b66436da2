// Ticks of a schedule besides one, that wait or run.
// params: space, name, lanes [names], but (uids)
// returns: uids
// mode: write (a follower may answer late)
CALL () {
  MATCH (t:Task {space: $space, tick_of: $name}) RETURN t.uid AS uid
  UNION
  UNWIND $lanes AS lane
  MATCH (t:Task {running_lane: lane}) WHERE t.session IS NOT NULL AND t.space = $space AND t.schedule = $name
  RETURN t.uid AS uid
}
WITH uid WHERE NOT uid IN $but
RETURN collect(uid) AS uids

// Lanes with their caps, pauses and what runs in them.
// params: none
// returns: name, cap, paused_at, paused_by, paused_why, running
// mode: read
MATCH (l:Lane) WHERE l.name IS NOT NULL
CALL (l) {
  MATCH (r:Task {running_lane: l.name}) WHERE r.session IS NOT NULL
  RETURN count(r) AS running
}
RETURN l.name AS name, l.cap AS cap, l.paused_at AS paused_at, l.paused_by AS paused_by, l.paused_why AS paused_why, running
ORDER BY l.name

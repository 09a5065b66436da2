// What happened to the tasks of a space: enqueued, started, ended, and runs that have an Attempt, each from a place on, in order of time
// and name. The reads are branches, so that none carries what another found: the server would count it for each of its rows.
// params: space, enqueued {at, name}, started {at, name}, ended {at, name}, runs {at, name} (epoch ms and name of the last one known), n
// returns: four rows: source (enqueued | started | ended | runs), now, found: the next n as maps {at, name, uid, id, type, lane, schedule};
//   ended has status, runs has outcome and began
// mode: write (a follower may answer late)
CALL () {
  MATCH (t:Task) USING INDEX SEEK t:Task(enqueued_at) WHERE t.enqueued_at >= $enqueued.at AND t.space = $space
    AND (t.enqueued_at > $enqueued.at OR t.uid > $enqueued.name)
  WITH t ORDER BY t.enqueued_at, t.uid LIMIT $n
  WITH collect(t {.uid, .id, .type, .lane, .schedule, at: t.enqueued_at, name: t.uid}) AS found
  RETURN 'enqueued' AS source, found
  UNION ALL
  CALL () {
    MATCH (t:Task) WHERE t.running_lane IS NOT NULL AND t.session IS NOT NULL RETURN t
    UNION
    MATCH (t:Task) USING INDEX SEEK t:Task(finished_at) WHERE t.finished_at >= $started.at RETURN t
  }
  WITH t WHERE t.space = $space AND (t.started_at > $started.at OR t.started_at = $started.at AND t.uid > $started.name)
  WITH t ORDER BY t.started_at, t.uid LIMIT $n
  WITH collect(t {.uid, .id, .type, .lane, .schedule, at: t.started_at, name: t.uid}) AS found
  RETURN 'started' AS source, found
  UNION ALL
  MATCH (t:Task) USING INDEX SEEK t:Task(finished_at) WHERE t.finished_at >= $ended.at AND t.space = $space
    AND (t.finished_at > $ended.at OR t.uid > $ended.name)
  WITH t ORDER BY t.finished_at, t.uid LIMIT $n
  WITH collect(t {.uid, .id, .type, .status, .lane, .schedule, at: t.finished_at, name: t.uid}) AS found
  RETURN 'ended' AS source, found
  UNION ALL
  MATCH (a:Attempt) USING INDEX SEEK a:Attempt(ended_at) WHERE a.ended_at >= $runs.at
  MATCH (t:Task)-[:ATTEMPT]->(a) WHERE t.space = $space
  WITH t, a, t.uid + '/' + toString(a.number) AS name
  WHERE a.ended_at > $runs.at OR name > $runs.name
  WITH t, a, name ORDER BY a.ended_at, name LIMIT $n
  WITH collect(t {.uid, .id, .type, .lane, .schedule, at: a.ended_at, name: name, outcome: a.outcome, began: a.started_at}) AS found
  RETURN 'runs' AS source, found
}
RETURN source, timestamp() AS now, found

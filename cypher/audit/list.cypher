// Who did what, newest first, a page at a time.
// params: space, door, who, action (each null: any), before (uid of the last row of the page before), since (epoch ms, or null), n
// returns: entry (map)
// mode: read
MATCH (a:Audit) WHERE a.uid < $before AND ($space IS NULL OR a.space = $space) AND ($door IS NULL OR a.door = $door)
  AND ($who IS NULL OR a.who = $who) AND ($action IS NULL OR a.action = $action) AND ($since IS NULL OR a.at >= $since)
WITH a ORDER BY a.uid DESC LIMIT $n
RETURN a {.uid, .at, .space, .who, .token, .door, .action, .target, .outcome, .detail} AS entry

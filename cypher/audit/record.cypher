// Keep who did what.
// params: rows [{uid, space, who, token, door, action, target, outcome, detail}]
// returns: recorded
// mode: write
UNWIND $rows AS r
CREATE (a:Audit)
SET a = r, a.at = timestamp()
RETURN count(a) AS recorded

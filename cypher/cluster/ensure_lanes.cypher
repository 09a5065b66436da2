// Make the nodes of the lanes; a cap that is there already stays.
// params: lanes [{name, cap}]
// returns: n
// mode: write
UNWIND $lanes AS lane
WITH lane ORDER BY lane.name
MERGE (l:Lane {name: lane.name})
  ON CREATE SET l.cap = lane.cap
RETURN count(l) AS n

// Link a task to what it made.
// params: task (uid), article
// returns: n
// mode: write
MATCH (t:Task {uid: $task})
WITH t, $article AS id
MATCH (a:Article {id: id})
MERGE (t)-[p:PRODUCED]->(a)
RETURN count(p) AS n

// Link a task to what it made.
// params: task (uid), article
// returns: n
// mode: write
MATCH (t:Task {uid: $task})
MATCH (a:Article {id: $article})
MERGE (t)-[p:PRODUCED]->(a)
RETURN count(p) AS n

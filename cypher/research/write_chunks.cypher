// Write some chunks of an article, and delete those behind its last one.
// params: article, chunks [{id, seq, text}], total (of the article)
// returns: n
// mode: write
MATCH (a:Article {id: $article})
CALL (a) {
  MATCH (a)-[:HAS_CHUNK]->(old:Chunk) WHERE old.seq >= $total
  DETACH DELETE old
}
UNWIND $chunks AS r
MERGE (c:Chunk {id: r.id})
SET c.seq = r.seq, c.text = r.text
MERGE (a)-[:HAS_CHUNK]->(c)
RETURN count(c) AS n

// How much there is, from the database's own counters.
// params: none
// returns: articles, chunks, concepts, authors, domains, seen, tasks
// mode: read
CALL () { MATCH (n:Article) RETURN count(n) AS articles }
CALL (articles) { MATCH (n:Chunk) RETURN count(n) AS chunks }
CALL (chunks) { MATCH (n:Concept) RETURN count(n) AS concepts }
CALL (concepts) { MATCH (n:Author) RETURN count(n) AS authors }
CALL (authors) { MATCH (n:Domain) RETURN count(n) AS domains }
CALL (domains) { MATCH (n:SeenPaper) RETURN count(n) AS seen }
CALL (seen) { MATCH (n:Task) RETURN count(n) AS tasks }
RETURN articles, chunks, concepts, authors, domains, seen, tasks

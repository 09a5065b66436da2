// Link articles that are near each other; the link goes from the lesser id to the greater. Those with nothing near are
// marked, so that they are not looked at again: an article that comes near to them later makes the link.
// params: rows [{low, high, cosine}], alone [ids]
// returns: n
// mode: write
CALL () {
  UNWIND $alone AS id
  WITH id ORDER BY id
  MATCH (a:Article {id: id})
  SET a.alone_since = timestamp()
  RETURN count(a) AS marked
}
CALL (marked) {
  UNWIND $rows AS r
  WITH r ORDER BY r.low, r.high
  MATCH (a:Article {id: r.low})
  CALL (a, r) {
    MATCH (b:Article {id: r.high})
    MERGE (a)-[x:RELATED_TO]->(b)
    SET x.cosine = r.cosine
    RETURN x
  }
  RETURN count(x) AS n
}
RETURN n

// Give articles the vectors that they lack.
// params: rows [{id, embedding}], model
// returns: n
// mode: write
UNWIND $rows AS r
WITH r ORDER BY r.id
MATCH (a:Article {id: r.id})
SET a.embedding = r.embedding, a.embedding_model = $model
RETURN count(a) AS n

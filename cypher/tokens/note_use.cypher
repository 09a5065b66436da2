// Add up how often tokens were used.
// params: rows [{id, uses}]
// returns: noted
// mode: write
UNWIND $rows AS r
MATCH (t:Token {id: r.id})
WITH t, r ORDER BY t.id
SET t.lock_v = 0
WITH t, r, t.uses AS before
SET t.uses = before + r.uses, t.last_used_at = timestamp()
RETURN count(t) AS noted

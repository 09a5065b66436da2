// Take or keep a lease; its term grows with each change of holder.
// params: name, holder, ms
// returns: holder, term, expires_at, mine
// mode: write
MERGE (l:Lease {name: $name})
  ON CREATE SET l.term = 0, l.expires_at = 0
SET l.lock_v = 0
WITH l, l.term AS term, l.holder AS before, timestamp() AS now,
     coalesce(l.holder = $holder, false) OR l.expires_at <= timestamp() AS mine
FOREACH (_ IN CASE WHEN mine THEN [1] ELSE [] END |
  SET l.holder = $holder, l.expires_at = now + $ms, l.term = CASE WHEN before = $holder THEN term ELSE term + 1 END)
RETURN l.holder AS holder, l.term AS term, l.expires_at AS expires_at, mine

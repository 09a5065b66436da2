// Hold back, or let go on, the claims of a type.
// params: name, paused, by, why
// returns: name
// mode: write
MERGE (k:TaskType {name: $name})
  ON CREATE SET k.created_at = timestamp()
SET k.paused_at = CASE WHEN $paused THEN timestamp() END, k.paused_by = CASE WHEN $paused THEN $by END,
    k.paused_why = CASE WHEN $paused THEN $why END
RETURN k.name AS name

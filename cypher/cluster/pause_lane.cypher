// Hold back, or let go on, the claims of a lane.
// params: name, paused, by, why
// returns: name
// mode: write
MERGE (l:Lane {name: $name})
SET l.paused_at = CASE WHEN $paused THEN timestamp() END, l.paused_by = CASE WHEN $paused THEN $by END,
    l.paused_why = CASE WHEN $paused THEN $why END
RETURN l.name AS name

// Answers that are no longer kept.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX answer_until IF NOT EXISTS FOR (a:Answer) ON (a.until)

// Relevant papers whose full text is owed; the property is gone once it is there, so the index stays small.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX research_seen_paper_pending IF NOT EXISTS FOR (s:SeenPaper) ON (s.fetch_pending)

// The full text of a paper is there, or will not come: nothing is owed any more.
// params: arxiv_id, reason (null when the text is there)
// returns: n
// mode: write
MATCH (s:SeenPaper {arxiv_id: $arxiv_id})
SET s.fetch_pending = NULL, s.no_text_reason = $reason
RETURN count(s) AS n

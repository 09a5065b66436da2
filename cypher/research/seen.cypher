// Which of some papers were graded before.
// params: arxiv_ids
// returns: arxiv_id
// mode: read
UNWIND $arxiv_ids AS arxiv_id
MATCH (s:SeenPaper {arxiv_id: arxiv_id})
RETURN s.arxiv_id AS arxiv_id

// Keep what came of a deed, in its transaction: whoever asks for it again is told, and it is not done twice.
// params: key (the mark), outcome
// returns: settled
// mode: write
MATCH (a:Answer {key: $key})
SET a.outcome = $outcome
RETURN count(a) AS settled

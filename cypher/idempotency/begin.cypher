// Begin what is to be done once: lock its mark, in the transaction of the deed. idempotency/settle writes what came of it there.
// params: key (the mark), keep_ms
// returns: outcome (what came of it when it was done before, or null)
// mode: write
MERGE (a:Answer {key: $key})
  ON CREATE SET a.until = timestamp() + $keep_ms
SET a.lock_v = 0
WITH a
RETURN a.outcome AS outcome

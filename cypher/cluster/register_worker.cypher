// A worker process says that it is here.
// params: worker, info {host, pid, version, slots, types, session, mode}, keep_ms (how long it counts as alive without a word)
// returns: now
// mode: write
MERGE (w:Worker {id: $worker})
SET w += $info, w.started_at = timestamp(), w.seen_at = timestamp(), w.running = 0, w.expires_at = timestamp() + $keep_ms
RETURN timestamp() AS now

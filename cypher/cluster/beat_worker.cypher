// A worker process says that it is still here.
// params: worker, running, keep_ms
// returns: id (no row: forgotten meanwhile, register again)
// mode: write
MATCH (w:Worker {id: $worker})
SET w.seen_at = timestamp(), w.running = $running, w.expires_at = timestamp() + $keep_ms
RETURN w.id AS id

// Workers that stopped reporting are forgotten in order.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX worker_expires IF NOT EXISTS FOR (w:Worker) ON (w.expires_at)

// One node a worker process.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT worker_id IF NOT EXISTS FOR (w:Worker) REQUIRE w.id IS UNIQUE

// The cluster-wide type table: lane and pause.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT type_name IF NOT EXISTS FOR (k:TaskType) REQUIRE k.name IS UNIQUE

// Ids are unique in their space; that a slot's tick has a fixed id makes the slot fire once.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT task_id IF NOT EXISTS FOR (t:Task) REQUIRE (t.space, t.id) IS UNIQUE

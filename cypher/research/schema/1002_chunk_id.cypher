// Chunks are found and merged by id.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT research_chunk_id IF NOT EXISTS FOR (n:Chunk) REQUIRE n.id IS UNIQUE

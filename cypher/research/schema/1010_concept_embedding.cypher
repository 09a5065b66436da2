// Nearest concepts of a text, for the novelty probe.
// params: none
// returns: nothing
// mode: schema
CREATE VECTOR INDEX research_concept_embedding IF NOT EXISTS FOR (c:Concept) ON (c.embedding)
OPTIONS {indexConfig: {`vector.dimensions`: 512, `vector.similarity_function`: 'cosine'}}

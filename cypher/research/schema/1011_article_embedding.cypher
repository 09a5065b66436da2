// Nearest articles of an article, for related links.
// params: none
// returns: nothing
// mode: schema
CREATE VECTOR INDEX research_article_embedding IF NOT EXISTS FOR (a:Article) ON (a.embedding)
OPTIONS {indexConfig: {`vector.dimensions`: 512, `vector.similarity_function`: 'cosine'}}

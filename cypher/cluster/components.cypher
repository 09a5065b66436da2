// What the server is.
// params: none
// returns: version, edition, now
// mode: read
CALL dbms.components() YIELD name, versions, edition
WITH versions[0] AS version, edition, name WHERE name = 'Neo4j Kernel'
RETURN version, edition, timestamp() AS now

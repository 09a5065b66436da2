// How many queries of people and agents were told to stop and still run: not all that they do can be interrupted.
// params: app (the name in their metadata)
// returns: stopping
// mode: read
SHOW TRANSACTIONS YIELD metaData, status WHERE metaData.app = $app AND status STARTS WITH 'Terminated' RETURN count(*) AS stopping

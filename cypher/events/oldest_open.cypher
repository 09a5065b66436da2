// Since when the oldest transaction is open, this one included: what happened before that instant is there to be read.
// params: none
// returns: since (epoch ms)
// mode: read
SHOW TRANSACTIONS YIELD startTime RETURN min(datetime(startTime).epochMillis) AS since

// Keys whose period is over are deleted in order.
// params: none
// returns: nothing
// mode: schema
CREATE INDEX unique_key_until IF NOT EXISTS FOR (k:UniqueKey) ON (k.until)

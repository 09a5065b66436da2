// One lease a duty that wants a single holder.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT lease_name IF NOT EXISTS FOR (l:Lease) REQUIRE l.name IS UNIQUE

// The order of the audit.
// params: none
// returns: nothing
// mode: schema
CREATE CONSTRAINT audit_uid IF NOT EXISTS FOR (a:Audit) REQUIRE a.uid IS UNIQUE

// Payloads of claims, a byte-bounded number at a time: the caller stops asking when its budget is full.
// params: uids
// returns: uid, payload
// mode: write (a follower may answer late)
UNWIND $uids AS uid
MATCH (t:Task {uid: uid})
RETURN t.uid AS uid, t.payload AS payload

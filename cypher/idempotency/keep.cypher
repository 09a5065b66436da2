// Keep the answer that a request got, for when it is sent again.
// params: key, holder, status, body, kind (content type), etag (or null)
// returns: kept
// mode: write
MATCH (a:Answer {key: $key})
SET a.lock_v = 0
WITH a WHERE a.holder = $holder
SET a.status = $status, a.body = $body, a.kind = $kind, a.etag = $etag
RETURN count(a) AS kept

// Take a client's key for one request, unless it is taken. A request that never ended gives it back after a while, but to no other
// request: it may have done what it was sent for.
// params: key, print (of the request), holder, keep_ms, patience_ms
// returns: mine, again (the same request took it before, and may have done what it was sent for), print ('' after a refusal, null: it
//   was forgotten at this very moment, so ask again), since (when the key was taken first), status (null: under way), body, kind, etag
// mode: write
MERGE (a:Answer {key: $key})
  ON CREATE SET a.until = 0, a.taken_until = 0, a.print = ''
SET a.lock_v = 0
WITH a, timestamp() AS now, a.until AS until, a.taken_until AS taken, a.status AS status, a.print AS print
WITH a, now, print = $print AND until >= now AS again, until < now AS is_over,
     until < now OR (status IS NULL AND taken < now AND print IN ['', $print]) AS free
CALL (a, now, is_over) {                                 // what was done under it before is forgotten with it
  WITH a, now WHERE is_over
  SET a.since = now, a.until = now + $keep_ms, a.status = NULL, a.body = NULL, a.kind = NULL, a.etag = NULL
}
CALL (a, now, free) {
  WITH a, now WHERE free
  SET a.print = $print, a.holder = $holder, a.taken_until = now + $patience_ms
}
RETURN a.holder = $holder AS mine, again, a.print AS print, a.since AS since, a.status AS status, a.body AS body, a.kind AS kind,
       a.etag AS etag

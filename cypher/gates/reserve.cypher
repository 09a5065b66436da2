// Take the next start that a rate allows, for work inside a handler: at most `rate` starts in any `period_ms`, over all processes.
// params: space, key, rate, period_ms
// returns: wait_ms (until the start that is now ours)
// mode: write
MERGE (l:Limiter {space: $space, key: $key})
SET l.lock_v = 0
// the clock behind the lock: who waited for it starts when it comes free, not when they asked
WITH l, coalesce(l.starts, []) AS starts, datetime.realtime().epochMillis AS now
WITH l, now, [start IN starts WHERE start > now - $period_ms] AS recent
WITH l, now, recent, CASE WHEN size(recent) < $rate THEN now ELSE recent[-$rate] + $period_ms END AS earliest
WITH l, now, recent, CASE WHEN earliest > now THEN earliest ELSE now END AS start
SET l.starts = (recent + start)[-$rate..], l.used_at = start
RETURN start - now AS wait_ms

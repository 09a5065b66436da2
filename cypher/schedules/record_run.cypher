// Count how a tick ended: failures in a row make the schedule wait, or pause it. A tick is counted once.
// params: space, name, tick (uid), ok, reason, base_ms (of the wait, where the schedule has no interval)
// returns: consecutive_failures, backoff_until, enabled (no row: no such schedule, or counted already)
// mode: write
MATCH (s:Schedule {space: $space, name: $name})
SET s.lock_v = 0
WITH s, coalesce(s.consecutive_failures, 0) AS before, timestamp() AS now, coalesce(s.every_ms, $base_ms) AS base
WHERE s.last_tick IS NULL OR s.last_tick <> $tick
WITH s, before, now, base, NOT $ok AND s.pause_after_failures IS NOT NULL AND before + 1 >= s.pause_after_failures AS pause, s.next_run AS next_run,
  s.enabled AS enabled
SET s.last_tick = $tick, s.last_outcome = CASE WHEN $ok THEN 'completed' ELSE 'failed' END, s.last_reason = $reason,
    s.consecutive_failures = CASE WHEN $ok THEN 0 ELSE before + 1 END,
    s.backoff_until = CASE WHEN NOT $ok THEN now + base * CASE WHEN before >= 4 THEN 16 ELSE toInteger(2 ^ before) END END,
    s.enabled = enabled AND NOT pause, s.next_run = CASE WHEN pause THEN NULL ELSE next_run END,
    s.paused_why = CASE WHEN pause THEN 'failed ' + toString(before + 1) + ' times in a row' END
RETURN s.consecutive_failures AS consecutive_failures, s.backoff_until AS backoff_until, s.enabled AS enabled

"""Whether it is safe to reap: after an outage or a clock jump, holders first get a lease's time to beat."""

from __future__ import annotations

JUMP_S = 2.0
GAP_S = 30.0


class ClockGuard:
    """Pure: instants of the monotonic clock are arguments, in seconds. `quiet` is how long nobody is reaped."""

    def __init__(self, quiet: float) -> None:
        self._quiet = quiet
        self._offset: float | None = None
        self._last: float | None = None
        self._trip = 0.0
        self._quiet_until = float("inf")
        self._away = True

    def contact(self, server_ms: int, sent: float, received: float) -> str | None:
        """Note an answer of the server; the reason if a quiet time begins with it."""
        offset = server_ms / 1000 - (sent + received) / 2
        reason = self._reason(offset, sent, received)
        if reason is not None:
            self._quiet_until = received + self._quiet
        self._offset, self._last, self._trip, self._away = offset, received, received - sent, False
        return reason

    def failed(self) -> None:
        """Note that the server did not answer."""
        self._away = True

    def may_reap(self, now: float) -> bool:
        return not self._away and now >= self._quiet_until

    def _reason(self, offset: float, sent: float, received: float) -> str | None:
        if self._offset is None or self._last is None:
            return "first contact"
        if self._away:
            return "the server was away"
        if received - self._last > GAP_S:
            return f"no contact for {received - self._last:.0f} s"
        jump = offset - self._offset
        if abs(jump) > JUMP_S + (received - sent) + self._trip:  # each offset is as exact as its answer was quick
            return f"the server's clock jumped by {jump:+.1f} s"
        return None

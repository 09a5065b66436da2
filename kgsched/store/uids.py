"""Uids: UUIDv7 (RFC 9562), strictly growing in a process and greater than those a task waits for."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterable
from uuid import UUID

_TIME = 80
_SEQUENCE_MASK = (1 << 12) - 1


class UidSource:
    """Makes uids. The order of uids is the order of locks, so a child's must be greater than its parents'."""

    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def new(self, after: Iterable[str] = ()) -> str:
        """A uid greater than all made before in this process and than each of `after`.

        The 48 bits of milliseconds and the 12 bits behind them are one counter that never stands still.
        """
        floor = max((_count(UUID(uid)) for uid in after), default=0)
        with self._lock:
            now = (time.time_ns() // 1_000_000) << 12
            self._last = count = max(now, self._last + 1, floor + 1)
        millis, sequence = count >> 12, count & _SEQUENCE_MASK
        random = secrets.randbits(62)
        return str(UUID(int=(millis << _TIME) | (0x7 << 76) | (sequence << 64) | (0b10 << 62) | random))


def _count(uid: UUID) -> int:
    return ((uid.int >> _TIME) << 12) | ((uid.int >> 64) & _SEQUENCE_MASK)


_source = UidSource()
new_uid = _source.new

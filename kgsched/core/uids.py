"""Identifiers of tasks: UUIDs of version 7, each greater than those of the tasks that it waits for."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from kgsched.errors import InvalidValue

_RANDOM_BITS = 74


def new_uid(now_ms: int, random: int, after: Iterable[str] = ()) -> str:
    """A UUIDv7 (RFC 9562, 5.7) for `now_ms` and 74 random bits, greater as text than every uid in `after`.

    Uid order is lock order and parents come before dependents, so a clock that lags behind a parent's is moved on.
    Raises InvalidValue for a parent that is not a UUID.
    """
    millis = now_ms
    for parent in after:
        millis = max(millis, uid_millis(parent) + 1)
    tail = random & ((1 << _RANDOM_BITS) - 1)
    value = (millis & ((1 << 48) - 1)) << 80 | 7 << 76 | (tail >> 62) << 64 | 2 << 62 | tail & ((1 << 62) - 1)
    return str(uuid.UUID(int=value))


def uid_millis(uid: str) -> int:
    """The millisecond that a UUIDv7 was made in. Raises InvalidValue for what is not a UUID."""
    try:
        return uuid.UUID(uid).int >> 80
    except (ValueError, AttributeError, TypeError):
        raise InvalidValue(f"uid {uid!r} is not a UUID") from None

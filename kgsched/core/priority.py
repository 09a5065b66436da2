"""Priority: one argument on every door, stored as a bucket and a weight."""

from __future__ import annotations

from kgsched.errors import InvalidValue

CRITICAL, HIGH, NORMAL, BACKGROUND = range(4)
NAMES = ("critical", "high", "normal", "background")
MAX_WEIGHT = 400
_WORDS = {**{name: bucket for bucket, name in enumerate(NAMES)}, "low": BACKGROUND}


def parse_priority(value: str | int | None) -> int:
    """Bucket 0 (critical) to 3 (background) of a name, a number or numeric text; None is normal.

    Raises InvalidValue for anything else.
    """
    if value is None:
        return NORMAL
    if isinstance(value, str):
        text = value.strip().lower()
        if text in _WORDS:
            return _WORDS[text]
        if text in {"0", "1", "2", "3"}:
            return int(text)
    elif isinstance(value, int) and not isinstance(value, bool) and value in range(4):
        return value
    raise InvalidValue(
        f"priority {value!r} is not one of {', '.join(NAMES)} (low) or 0, 1, 2, 3 (0 is the most urgent)"
    )


def parse_weight(value: int) -> int:
    """A weight of -400 to 400; higher goes first inside a bucket. Raises InvalidValue."""
    if isinstance(value, bool) or not isinstance(value, int) or not -MAX_WEIGHT <= value <= MAX_WEIGHT:
        raise InvalidValue(f"weight {value!r} is not a whole number from -{MAX_WEIGHT} to {MAX_WEIGHT}")
    return value

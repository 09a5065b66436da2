"""What errors of HTTP libraries say: the status code and the wait that a server asks for, by shape, not by import."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_SECONDS = 10**10


def http_status(error: BaseException) -> int | None:
    """HTTP status code that an error of an HTTP library carries, on itself or on its response."""
    response = getattr(error, "response", None)
    for owner, name in (
        (response, "status_code"),
        (response, "status"),
        (error, "status_code"),
        (error, "status"),
        (error, "code"),
    ):
        value = getattr(owner, name, None)
        if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599:
            return value
    return None


def retry_after_ms(error: BaseException, now: datetime) -> int | None:
    """Milliseconds of a Retry-After header: seconds or an HTTP date (RFC 9110, 10.2.3); a past date is 0."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    if headers is None:
        headers = getattr(error, "headers", None)
    getter = getattr(headers, "get", None)
    if getter is None:
        return None
    value = getter("Retry-After") or (getter("retry-after") if isinstance(headers, Mapping) else None)
    return None if value is None else parse_retry_after(str(value), now)


def parse_retry_after(text: str, now: datetime) -> int | None:
    """Milliseconds of a Retry-After value; None for what is neither seconds nor an HTTP date."""
    text = text.strip()
    if re.fullmatch(r"[0-9]+", text):
        return int(min(float(text), MAX_SECONDS)) * 1000
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return max(0, round((aware - now).total_seconds() * 1000))

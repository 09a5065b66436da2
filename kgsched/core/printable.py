"""Error text that can always be recorded: printable, encodable, bounded."""

from __future__ import annotations

import re

MAX_KIND = 128
MAX_MESSAGE = 4_000
MAX_TRACEBACK = 16_000
MAX_LOG_LINE = 1_000

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\ufffe\uffff]")


def printable(text: str, limit: int) -> str:
    """At most `limit` characters, and how many were cut; what cannot be shown or stored becomes U+FFFD."""
    kept = text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit} characters cut)"
    return _UNPRINTABLE.sub("\ufffd", kept)


def printable_end(text: str, limit: int) -> str:
    """As `printable`, but keeps the end: the innermost frames of a traceback are its last lines."""
    kept = text if len(text) <= limit else f"({len(text) - limit} characters cut) …{text[-limit:]}"
    return _UNPRINTABLE.sub("\ufffd", kept)

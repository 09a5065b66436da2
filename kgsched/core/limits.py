"""Bounds of what one task may carry, and the checks of what users send."""

from __future__ import annotations

import json
import re

from kgsched.errors import InvalidValue

MAX_NAME = 128
MAX_TRANSACTION_S = 86_400
MAX_KEY = 512
MAX_JSON_BYTES = 1024 * 1024
MAX_BATCH_ROWS = 500
MAX_BATCH_BYTES = 4 * 1024 * 1024
KEEP_ANSWERS_MS = 24 * 3_600_000  # for those who ask the same again
SPACE = re.compile(r"[a-z0-9_-]{1,64}")


def check_text(kind: str, value: str, limit: int = MAX_NAME) -> str:
    """The value, if it is text of 1 to `limit` characters that the database can store. Raises InvalidValue."""
    if not isinstance(value, str) or not value:
        raise InvalidValue(f"{kind} must be text of 1 to {limit} characters, not {value!r}")
    if len(value) > limit:
        raise InvalidValue(f"{kind} {value[:40]!r}… has {len(value)} characters; the limit is {limit}")
    if any(0xD800 <= ord(char) <= 0xDFFF or char == "\0" for char in value):
        raise InvalidValue(f"{kind} {value[:40]!a} holds a NUL or half of a surrogate pair")
    return value


def check_slug(kind: str, value: str) -> str:
    """A space or schedule name: 1 to 64 of a-z, 0-9, `_`, `-`. Raises InvalidValue."""
    if not isinstance(value, str) or not SPACE.fullmatch(value):
        raise InvalidValue(f"{kind} {value!r} must be 1 to 64 of a-z, 0-9, '_' and '-'")
    return value


def check_transaction_time(seconds: float) -> float:
    """Raises InvalidValue for what no transaction may last."""
    number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if not number or not 0 < seconds <= MAX_TRANSACTION_S:
        raise InvalidValue(
            f"the timeout of a transaction must be seconds above 0, at most {MAX_TRANSACTION_S}, not {seconds!r}"
        )
    return seconds


def to_json(kind: str, value: object, limit: int = MAX_JSON_BYTES, *, sort: bool = True) -> str:
    """Compact JSON text, keys sorted unless told otherwise. Raises InvalidValue: no JSON, or over `limit` bytes."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=sort)
        size = len(text.encode("utf-8"))
    except (TypeError, ValueError, RecursionError, UnicodeEncodeError) as error:
        raise InvalidValue(f"{kind} is not JSON: {error}") from None
    if size > limit:
        raise InvalidValue(f"{kind} is {size} bytes of JSON; the limit is {limit}")
    return text

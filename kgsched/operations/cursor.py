"""Opaque cursors of lists."""

from __future__ import annotations

import base64
import binascii
import re

from kgsched.errors import InvalidValue

_UID = re.compile(r"[0-9a-f-]{36}")


def encode(uid: str) -> str:
    """The cursor of the page behind the row `uid`."""
    return base64.urlsafe_b64encode(uid.encode()).decode().rstrip("=")


def decode(cursor: str) -> str:
    """The uid in a cursor. Raises InvalidValue for what is none."""
    try:
        uid = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
    except (binascii.Error, UnicodeError, ValueError):
        uid = ""
    if not _UID.fullmatch(uid):
        raise InvalidValue(f"cursor {cursor[:60]!r} is not one that a list gave; leave it out to start at the newest")
    return uid

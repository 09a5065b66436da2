"""The text of a token, and the tag by which the graph knows it.

The graph holds no token and no plain hash of one, only an HMAC under a key that lies outside of the graph: who can read
the graph (graph_query does) cannot check a guess, and who can write to it cannot make a token.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import urlsafe_b64encode

PREFIX = "kgs_"
SECRET_BYTES = 32
ID_LENGTH = 12
_TEXT = re.compile(r"kgs_[A-Za-z0-9_-]{43}")


def token_text(secret: bytes) -> str:
    """The text that its holder keeps."""
    return PREFIX + urlsafe_b64encode(secret).decode().rstrip("=")


def well_formed(text: str) -> bool:
    return _TEXT.fullmatch(text) is not None


def tag_of(text: str, key: bytes) -> str:
    """What is stored instead of the token."""
    return hmac.new(key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def same(one: str, other: str) -> bool:
    """Compared in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())

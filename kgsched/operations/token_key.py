"""The key of the tags of tokens: from the settings, else a file that only this user reads."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from kgsched.config import Settings
from kgsched.errors import InvalidValue

FILE = "token.key"


def token_key(settings: Settings) -> bytes:
    """The key; made at the first use. Raises InvalidValue for a file that is none."""
    if settings.token_key is not None:
        return settings.token_key.get_secret_value().encode()
    path = settings.home / FILE
    try:
        return _read(path)
    except FileNotFoundError:
        settings.home.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{FILE}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_hex(32))
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(fresh, path)  # whoever was first wins
    except FileExistsError:
        pass
    finally:
        fresh.unlink()
    return _read(path)


def _read(path: Path) -> bytes:
    text = path.read_text(encoding="ascii").strip()
    if len(text) < 32:
        raise InvalidValue(f"{path} holds no key of tokens; restore it, or delete it and make new tokens")
    return text.encode()

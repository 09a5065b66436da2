"""JSON as people write it, read strictly."""

from __future__ import annotations

import json
from typing import Any

from kgsched.core.limits import MAX_JSON_BYTES
from kgsched.errors import InvalidValue


def parse_json(kind: str, text: str, limit: int = MAX_JSON_BYTES) -> Any:
    """The value. Raises InvalidValue for text that is none or over `limit` bytes, NaN, and keys that come twice."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > limit:
        raise InvalidValue(f"{kind} is {size} bytes of JSON; the limit is {limit}")
    try:
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_twins)
    except RecursionError:
        raise InvalidValue(f"{kind} is not usable JSON: it is nested too deeply") from None
    except ValueError as error:
        raise InvalidValue(f"{kind} is not JSON: {error}") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} comes twice")
        found[key] = value
    return found

"""Values of the database as plain JSON values."""

from __future__ import annotations

import math
from typing import Any

from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time


def plain(value: Any) -> Any:
    """JSON of a value: nodes with their labels, times as ISO 8601, what JSON lacks as text."""
    match value:
        case Node():
            return {"labels": sorted(value.labels), "properties": _mapping(dict(value.items()))}
        case Relationship():
            return {"type": value.type, "properties": _mapping(dict(value.items()))}
        case Path():
            return {"nodes": [plain(node) for node in value.nodes], "relationships": [plain(one) for one in value]}
        case Date() | DateTime() | Time() | Duration():
            return value.iso_format()
        case Point():
            return {"srid": value.srid, "coordinates": [plain(part) for part in value]}
        case bytes() | bytearray():
            return value.hex()
        case float() if not math.isfinite(value):
            return str(value)
        case dict():
            return _mapping(value)
        case list() | tuple():
            return [plain(item) for item in value]
        case None | bool() | int() | float() | str():
            return value
        case _:
            return str(value)


def _mapping(values: dict[str, Any]) -> dict[str, Any]:
    return {str(name): plain(value) for name, value in values.items()}

"""The shipped lists of jars, one a Neo4j version: path below a Maven repository, size and SHA-256."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from kgsched.errors import UnknownName


@dataclass(frozen=True, slots=True)
class Jar:
    """One file of a server: `path` below the repository, `size` in bytes, `sha256` in hex."""

    path: str
    size: int
    sha256: str


@cache
def shipped_versions() -> tuple[str, ...]:
    """Versions of Neo4j that this package can install, oldest first."""
    folder = resources.files("kgsched.localdb") / "locks"
    names = (entry.name.removesuffix(".json") for entry in folder.iterdir() if entry.name.endswith(".json"))
    return tuple(sorted(names, key=version_key))


@cache
def load_lock(version: str) -> tuple[Jar, ...]:
    """The jars of `version` in class path order. Raises UnknownName for a version that is not shipped."""
    if version not in shipped_versions():
        remedy = "(set KGSCHED_NEO4J_VERSION to one of these, or KGSCHED_NEO4J_URI to a server of your own)"
        raise UnknownName("Neo4j version", version, shipped_versions(), remedy)
    text = (resources.files("kgsched.localdb") / "locks" / f"{version}.json").read_text(encoding="utf-8")
    return tuple(Jar(**entry) for entry in json.loads(text))


def version_key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def line_of(version: str) -> str:
    """The major line, which names the data folder: `5`, or the year from 2025 on."""
    return version.partition(".")[0]


def missing(jars: Sequence[Jar], folder: Path) -> list[Jar]:
    """The jars that `folder` lacks or has with another size; reads no file and no network."""
    return [jar for jar in jars if not _has_size(folder / jar.path, jar.size)]


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except (FileNotFoundError, NotADirectoryError):
        return False

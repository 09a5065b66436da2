"""The statements under cypher/, read once, with what their headers declare."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from kgsched.errors import KgschedError

_PARAMETER = re.compile(r"\$([A-Za-z_]\w*)")
_ONE_MAP = "given"
_COMMENT = re.compile(r"//[^\n]*")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: its name `noun/verb`, its text without the header, its parameters and its mode.

    All parameters travel in one map, `$given`: the server compiles a plan for each size class (0, 1, up to 10, 100, …)
    of each list and text that is a parameter by itself, up to seconds a time; a map needs one plan.
    """

    name: str
    text: str
    mode: str
    parameters: frozenset[str]

    @staticmethod
    def arguments(params: Mapping[str, Any]) -> dict[str, Any]:
        """What to send with the text."""
        return {_ONE_MAP: dict(params)}

    @property
    def reads_only(self) -> bool:
        return self.mode == "read"


def _root() -> Traversable:
    packaged = files("kgsched") / "_cypher"
    if packaged.is_dir():
        return packaged
    return Path(__file__).resolve().parents[2] / "cypher"


def _parse(name: str, text: str) -> Statement:
    header, mode = [], ""
    lines = text.splitlines()
    while lines and lines[0].startswith("//"):
        header.append(lines.pop(0)[2:].strip())
    for line in header:
        if line.startswith("mode:"):
            mode = line.removeprefix("mode:").split()[0]
    if mode not in ("read", "write", "schema"):
        raise KgschedError(
            f"cypher/{name}.cypher declares no mode; its header needs a line '// mode: read|write|schema'"
        )
    body = _COMMENT.sub("", "\n".join(lines)).strip()
    plain = "\n".join(line.rstrip() for line in body.splitlines() if line.strip())
    return Statement(name, _PARAMETER.sub(rf"${_ONE_MAP}.\1", plain), mode, frozenset(_PARAMETER.findall(plain)))


def _walk(folder: Traversable, prefix: str = "") -> dict[str, Statement]:
    found: dict[str, Statement] = {}
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_dir():
            found |= _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".cypher"):
            name = prefix + entry.name.removesuffix(".cypher")
            found[name] = _parse(name, entry.read_text(encoding="utf-8"))
    return found


@cache
def statements() -> dict[str, Statement]:
    """All statements by name, in name order."""
    return _walk(_root())


def statement(name: str) -> Statement:
    """The statement `noun/verb`."""
    try:
        return statements()[name]
    except KeyError:
        raise KgschedError(f"there is no statement cypher/{name}.cypher; the installation is incomplete") from None

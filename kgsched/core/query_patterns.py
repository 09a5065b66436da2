"""Regular expressions of a statement: one that tries again and again runs for ever, and nothing interrupts it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import Any

from kgsched.core.query_text import refuse, strings

MAX_WAYS = 200
_MATCHES = re.compile(r"=~\s*(?:(?P<text>'')|\$(?P<param>\w+))?(?P<more>\s*(?:\+|\|\||[.\[]))?")
_PLAIN_GROUP = re.compile(r"\?(?:[imsu]*|[imsu]*-[imsu]*)[:)]")
_QUANTIFIERS = "*+?{"
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def check_patterns(text: str, plain: str, params: Mapping[str, Any]) -> None:
    """Raises SecurityError for one that could take long, or that stands neither in the text nor in a parameter."""
    literals = strings(text)
    for match in _MATCHES.finditer(plain):
        pattern = params.get(match["param"]) if match["param"] else None
        if match["text"]:
            pattern = _unescaped(literals[plain.count("''", 0, match.start("text"))])
        if not isinstance(pattern, str) or match["more"]:
            refuse("=~ with anything but one string or $parameter on its right")
        _Scan(pattern).check()


def _unescaped(literal: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPED.get(found[1], found[1]), literal, flags=re.DOTALL)


class _Scan:
    """One pass over a pattern: what repeats, and in how many ways alternatives can be chosen at most."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._quantifiers = 0
        self._open = [1]
        self._ways: list[int] = []

    def check(self) -> None:
        place = 0
        while place < len(self._pattern):
            place = self._step(self._pattern[place], place)
        if self._quantifiers > 1:
            _refuse_repeating()
        if prod(self._ways) * prod(self._open) > MAX_WAYS:
            refuse(f"a regular expression with more than {MAX_WAYS} ways through its alternatives; use IN, or OR")

    def _step(self, char: str, place: int) -> int:
        """The place behind what begins at `place`."""
        if char == "\\":
            return self._escape(place)
        if char == "[":
            return self._class_end(place)
        if char == "(":
            return self._group(place)
        if char == ")":
            if self._pattern[place + 1 : place + 2] in tuple(_QUANTIFIERS):
                _refuse_repeating()
            if len(self._open) > 1:
                self._ways.append(self._open.pop())
        elif char == "|":
            self._open[-1] += 1
        elif char in _QUANTIFIERS:
            self._quantifiers += 1
        return place + 1

    def _escape(self, place: int) -> int:
        if self._pattern[place + 1 : place + 2] in ("", "Q", "E", "c", "k", *"123456789"):
            refuse("a regular expression with \\Q, \\E, \\c or a reference to a group")
        return place + 2

    def _class_end(self, place: int) -> int:
        """Of a class of single characters: no classes in it, no bracket at its beginning."""
        found = re.compile(r"\[\^?+(?:[^\[\]\\&]|\\[^QE])+\]", re.DOTALL).match(self._pattern, place)
        if found is None:
            refuse("a regular expression with a class in brackets that holds a bracket or an &; write \\[, \\] or \\&")
        return found.end()

    def _group(self, place: int) -> int:
        if self._pattern[place + 1 : place + 2] != "?":
            self._open.append(1)
            return place + 1
        found = _PLAIN_GROUP.match(self._pattern, place + 1)
        if found is None:
            refuse("a regular expression with (? but for (?: and the flags i, m, s and u")
        if found[0].endswith(":"):
            self._open.append(1)
        return found.end()


def _refuse_repeating() -> None:
    refuse(
        "a regular expression with more than one of * + ? {}, or one behind a bracket; "
        "use CONTAINS, STARTS WITH or ENDS WITH, with toLower() on both sides"
    )

"""Regular expressions of a statement: one that tries again and again runs for ever, and nothing interrupts it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import Any

from kgsched.core.query_text import refuse, strings

MAX_WAYS = 200
_MATCHES = re.compile(r"=~\s*(?:(?P<text>'')|\$(?P<param>\w+))?(?P<more>\s*(?:\+|\|\||[.\[]))?")
_QUANTIFIER = re.compile(r"(?<!\()[*+?{]")
_GROUPED = re.compile(r"\)[*+?{]")


def check_patterns(text: str, plain: str, params: Mapping[str, Any]) -> None:
    """Raises SecurityError for one that could take long, or that stands neither in the text nor in a parameter."""
    literals = strings(text)
    for match in _MATCHES.finditer(plain):
        pattern = params.get(match["param"]) if match["param"] else None
        if match["text"]:
            pattern = literals[plain.count("''", 0, match.start("text"))]
        if not isinstance(pattern, str) or match["more"]:
            refuse("=~ with anything but one string or $parameter on its right")
        elif len(_QUANTIFIER.findall(pattern)) > 1 or _GROUPED.search(pattern):
            refuse(
                "a regular expression with more than one of * + ? {}, or one behind a bracket; "
                "use CONTAINS, STARTS WITH or ENDS WITH, with toLower() on both sides"
            )
        elif _ways(pattern) > MAX_WAYS:
            refuse(f"a regular expression with more than {MAX_WAYS} ways through its alternatives; use IN, or OR")


def _ways(pattern: str) -> int:
    """In how many ways alternatives can be chosen, at most: they are tried one by one, group after group."""
    done: list[int] = []
    open_: list[int] = [1]
    for char in re.sub(r"\\.", "", pattern, flags=re.DOTALL):
        if char == "(":
            open_.append(1)
        elif char == ")" and len(open_) > 1:
            done.append(open_.pop())
        elif char == "|":
            open_[-1] += 1
    return prod(done) * prod(open_)

"""What may grow or multiply in an expression of a person's query: nothing there is interrupted or counted as memory.

A list that is doubled thirty times has billions of elements and takes no time to make; whatever looks at it then takes
hours. Text is looked at, not types, so this bounds what a mistake can cost, and not all that malice can.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kgsched.core.query_text import refuse, strings

MAX_JOINS = 8
MAX_REPLACED = 256
MAX_LISTED = 1_000
_LOOP = re.compile(
    r"(?P<open>\[\s*\w+\s+IN\b|(?<![\w.:$])(?:ALL|ANY|NONE|SINGLE)\s*\(\s*\w+\s+IN\b)|(?P<other>[(\[{])|(?P<close>[)\]}])",
    re.IGNORECASE,
)
_IN = re.compile(r"(?<![\w.:$])IN\b", re.IGNORECASE)
_SHORT = re.compile(r"\s*(?:\[[^\[\]()]*\]|\$(?P<param>\w+))(?!\s*(?:\+|\|\||\[|\.))")
_JOIN = re.compile(r"(?P<left>''|(?<![\w.])\d+(?:\.\d+)?)?\s*(?:(?<![=~<>])\+|\|\|)\s*(?P<right>''|-?\d)?")
_REPLACE = re.compile(r"(?<![\w.:$])REPLACE\s*\(", re.IGNORECASE)


def check_growth(text: str, plain: str, params: Mapping[str, Any]) -> None:
    """`plain` is `text` with its strings blanked. Raises SecurityError that says which rule refuses it."""
    _check_loops(plain, params)
    if sum(1 for match in _JOIN.finditer(plain) if not match["left"] and not match["right"]) > MAX_JOINS:
        refuse(f"more than {MAX_JOINS} + or || between values; lists and texts could grow without end")
    _check_replacing(text, plain, params)


def arguments(plain: str, start: int) -> Iterator[tuple[str, int]]:
    """The arguments of a call whose bracket opened just before `start`, and where each begins."""
    depth, begin = 0, start
    for place in range(start, len(plain)):
        char = plain[place]
        if char in "([{":
            depth += 1
        elif char in ")]}" and depth:
            depth -= 1
        elif char in "),]}" and not depth:
            yield plain[begin:place], begin
            begin = place + 1
            if char != ",":
                return


def _check_loops(plain: str, params: Mapping[str, Any]) -> None:
    opened: list[int | None] = []
    for match in _LOOP.finditer(plain):
        if match["close"]:
            if opened and (start := opened.pop()) is not None:
                _check_body(plain[start : match.start()], params)
        elif match["open"] and any(opened):
            refuse("loops over lists inside of one another; use UNWIND, which can be stopped")
        else:
            opened.append(match.end() if match["open"] else None)
    if any(opened):
        refuse("a loop over a list that does not end")


def _check_body(body: str, params: Mapping[str, Any]) -> None:
    for match in _IN.finditer(body):
        short = _SHORT.match(body, match.end())
        value = params.get(short["param"]) if short and short["param"] else []
        if short is None or not isinstance(value, list) or len(value) > MAX_LISTED:
            refuse(
                f"IN inside a loop over a list with anything but a list of literals or a $parameter of up to "
                f"{MAX_LISTED} on its right; use UNWIND, which can be stopped"
            )


def _check_replacing(text: str, plain: str, params: Mapping[str, Any]) -> None:
    """Each replace() may make a text as many times longer as what it puts in is long."""
    literals, factor = strings(text), 1
    for match in _REPLACE.finditer(plain):
        given = list(arguments(plain, match.end()))
        word, begin = given[2] if len(given) == 3 else ("", 0)
        value: object = params.get(word.strip()[1:]) if word.strip().startswith("$") else None
        if word.strip() == "''":
            value = literals[plain.count("''", 0, begin)]
        if not isinstance(value, str):
            refuse("replace() with anything but a string or $parameter as its third argument")
        factor *= max(1, len(value))
        if factor > MAX_REPLACED:
            refuse(f"replace() that could make a text more than {MAX_REPLACED} times as long")

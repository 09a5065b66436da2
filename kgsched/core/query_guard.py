"""Which statements the read-only query tool runs: decided from the text, then from the server's plan.

The server alone refuses writes in a read transaction, but neither what reaches out of the database (LOAD CSV), nor
what touches the server itself (procedures, SHOW, TERMINATE), nor what cannot be interrupted. Hence an allow-list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kgsched.core.query_growth import arguments, check_growth
from kgsched.core.query_patterns import check_patterns
from kgsched.core.query_text import QUOTED, blank, refuse

MAX_TEXT = 20_000
MAX_RANGE = 1_000_000
MAX_LOGIC = 100
MAX_XOR = 3
FIRST = ("MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "CALL", "SHOW")
SHOWN = ("INDEX", "INDEXES", "CONSTRAINT", "CONSTRAINTS", "PROCEDURE", "PROCEDURES", "FUNCTION", "FUNCTIONS")
_SHOW_KINDS = ("ALL", "RANGE", "TEXT", "POINT", "FULLTEXT", "VECTOR", "LOOKUP", "BUILT", "IN", "USER", "DEFINED")
PROCEDURES = frozenset(
    {
        "db.labels",
        "db.relationshiptypes",
        "db.propertykeys",
        "db.schema.visualization",
        "db.schema.nodetypeproperties",
        "db.schema.reltypeproperties",
        "db.info",
        "db.ping",
        "db.index.fulltext.querynodes",
        "db.index.fulltext.queryrelationships",
        "db.index.vector.querynodes",
        "db.index.vector.queryrelationships",
    }
)
FUNCTION_SPACES = frozenset({"date", "datetime", "duration", "localdatetime", "localtime", "point", "time", "vector"})
_ESCAPE = re.compile(r"\\[uU](?![g-tv-zG-TV-Z])")  # the server takes signs and digits of any script for a number
_NAME = rf"[\w{QUOTED}]+(?:\s*\.\s*[\w{QUOTED}]+)*"
_CALLED = re.compile(rf"({_NAME})\s*\(")
_CALL = re.compile(rf"(?<![\w.:$])CALL\b\s*({_NAME})", re.IGNORECASE)
_AFTER_A_NAME = (
    "IS|IN|AND|OR|XOR|AS|DESC|DESCENDING|ASC|ASCENDING|RETURN|WHERE|WITH|MATCH|OPTIONAL|UNWIND|CALL|UNION|ORDER|SKIP|"
    "OFFSET|LIMIT|CONTAINS|STARTS|ENDS|THEN|ELSE|END|WHEN"
)
_FORBIDDEN = (
    (re.compile(r"(?<![\w.:$])LOAD\s+CSV\b", re.IGNORECASE), "LOAD CSV"),
    (re.compile(r"\bIN\s+(?:\d+\s+|\$\w+\s+)?(?:CONCURRENT\s+)?TRANSACTIONS\b", re.IGNORECASE), "IN TRANSACTIONS"),
    (re.compile(r"\bPERIODIC\s+COMMIT\b", re.IGNORECASE), "PERIODIC COMMIT"),
    (re.compile(rf"(?<![\w.:$|])USE\b(?!\s*(?:[:=,.)\]}}|<>+*/%^{{-]|$|(?:{_AFTER_A_NAME})\b))", re.IGNORECASE), "USE"),
    (re.compile(r"(?<![\w.:$])TERMINATE\s+TRANSACTIONS?\b", re.IGNORECASE), "TERMINATE"),
    (re.compile(r"(?<![\w.:$])(?:ALL)?REDUCE\s*\(", re.IGNORECASE), "reduce()"),
)
_RANGE = re.compile(r"(?<![\w.:$])RANGE\s*\(", re.IGNORECASE)
_LOGIC = re.compile(r"(?<![\w.:$])(?:AND|OR|NOT)\b", re.IGNORECASE)
_XOR = re.compile(r"(?<![\w.:$])XOR\b", re.IGNORECASE)
_LIMIT = re.compile(r"-?\d{1,7}|\$\w+|(?:SIZE|LENGTH)\s*\([^()]*\)\s*(?:[-+]\s*\d{1,7})?", re.IGNORECASE)
_WRITING = re.compile(
    r"Create|Merge|Set|Delete|Remove|Foreach|Transaction|Administration|LoadCSV|EmptyResult|Drop|Alter|Terminate"
)
_SHOWING = ("ShowIndexes", "ShowConstraints", "ShowProcedures", "ShowFunctions")


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """Rows as JSON values. cut: why there may be more (`rows`, `bytes` or `time`), None when that is all."""

    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    cut: str | None = None


def check_text(text: str, params: Mapping[str, Any] | None = None) -> str:
    """The statement to run. Raises SecurityError that says which rule refuses it."""
    if len(text) > MAX_TEXT:
        refuse(f"the statement has {len(text)} characters; the limit is {MAX_TEXT}")
    if _ESCAPE.search(text):
        refuse(r"a \u escape; write the character itself or pass a parameter")
    if QUOTED in text:
        refuse(f"the character {QUOTED}; pass it in a parameter")
    plain = blank(text).rstrip()
    if plain.endswith(";"):
        plain = plain[:-1].rstrip()
        text = text.rstrip()
        text = text[:-1] if text.endswith(";") else text
    if ";" in plain:
        refuse("more than one statement; send one at a time")
    if odd := [
        char for char in plain if not (char.isalnum() or char in "\n\r\t" or " " <= char <= "~" or char == QUOTED)
    ]:
        refuse(f"the character {odd[0]!a} outside of quotes")
    _check_first(plain)
    for pattern, what in _FORBIDDEN:
        if pattern.search(plain):
            refuse(f"{what} is not for reading the graph")
    _check_calls(plain)
    _check_ranges(plain, params or {})
    _check_logic(plain)
    check_patterns(text, plain, params or {})
    check_growth(text, plain, params or {})
    return text


def check_plan(query_type: str | None, plan: Mapping[str, Any] | None) -> None:
    """Judge what the server's EXPLAIN said. Raises SecurityError."""
    if query_type != "r":
        kinds = {"w": "writes", "rw": "reads and writes", "s": "changes the schema"}
        refuse(f"the statement {kinds.get(query_type or '', 'is no plain read')}; graph-query only reads")
    if not plan:
        refuse("the server gave no plan for it")
    for operator in _operators(plan or {}):
        name = str(operator.get("operatorType", "")).split("@")[0]
        if name.startswith("Show"):
            if name not in _SHOWING:
                refuse(f"{name} is not for reading the graph")
        elif name == "ProcedureCall":
            called = str((operator.get("args") or {}).get("Details", "")).split("(")[0]
            _check_procedure(called.replace("`", ""))
        elif _WRITING.match(name):
            refuse(f"its plan holds {name}; graph-query only reads")


def _check_first(plain: str) -> None:
    words = re.findall(r"\w+", plain[:400])
    first = words[0].upper() if words else ""
    if first not in FIRST or not plain.lstrip()[:1].isalpha():
        refuse(f"a statement must begin with {', '.join(FIRST[:-1])} or SHOW, not {first or 'nothing'}")
    if first == "SHOW":
        rest = [word.upper() for word in words[1:] if word.upper() not in _SHOW_KINDS]
        if not rest or rest[0] not in SHOWN:
            refuse("SHOW only shows indexes, constraints, procedures and functions here")


def _check_calls(plain: str) -> None:
    for called in _CALL.findall(plain):
        if "." in called or QUOTED in called:  # one without a namespace is no procedure, but a name of the reader's own
            _check_procedure(called)
    procedures = {match.start(1) for match in _CALL.finditer(plain)}
    for match in _CALLED.finditer(plain):
        if match.start(1) in procedures:
            continue
        name = re.sub(r"\s+", "", match[1])
        if QUOTED in name:
            refuse("a function whose name is in backticks")
        space, dot, _ = name.lower().rpartition(".")
        if dot and space.split(".")[0] not in FUNCTION_SPACES:
            refuse(f"the function {name}(); only built-in functions are allowed")


def _check_procedure(called: str) -> None:
    name = re.sub(r"\s+", "", called)
    if name.lower() not in PROCEDURES:
        refuse(f"the procedure {name!r}; allowed are {', '.join(sorted(PROCEDURES))}")


def _check_ranges(plain: str, params: Mapping[str, Any]) -> None:
    """What runs over lists inside an expression cannot be interrupted by the server: it must be short."""
    for match in _RANGE.finditer(plain):
        for part, _ in arguments(plain, match.end()):
            _check_limit(part.strip(), params)


def _check_logic(plain: str) -> None:
    """The planner multiplies conditions out, which nothing interrupts."""
    if len(_XOR.findall(plain)) > MAX_XOR:
        refuse(f"more than {MAX_XOR} XOR; planning it would not come to an end")
    if len(_LOGIC.findall(plain)) > MAX_LOGIC:
        refuse(f"more than {MAX_LOGIC} of AND, OR and NOT; pass a list and use IN")


def _check_limit(part: str, params: Mapping[str, Any]) -> None:
    if not _LIMIT.fullmatch(part):
        refuse(f"range({part.strip()[:40]}…): give whole numbers up to {MAX_RANGE}, $parameters, or size() of a list")
    value = params.get(part[1:]) if part.startswith("$") else part
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).lstrip("-").isdigit():
        if part.startswith("$"):
            refuse(f"range({part}): the parameter must be a whole number up to {MAX_RANGE}")
    elif abs(int(value)) > MAX_RANGE:
        refuse(f"range() up to {value}; the limit is {MAX_RANGE}")


def _operators(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    left = [plan]
    while left:
        one = left.pop()
        yield one
        left.extend(one.get("children") or ())

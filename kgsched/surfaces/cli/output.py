"""What commands print: data on stdout, all else on stderr; tables are cut to the width of a terminal only."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from io import TextIOWrapper
from typing import Any

from kgsched.errors import InvalidValue

MIN_CELL = 12
# C0 and C1 controls but for line ends and tabs, bidirectional marks, halves of surrogate pairs
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def take_any_text() -> None:
    """From now on what the locale's encoding lacks is printed as an escape, instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def print_json(value: Any) -> None:
    """One JSON document."""
    narrow = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    sys.stdout.write(visible(json.dumps(value, ensure_ascii=narrow, indent=2, default=str)) + "\n")


def print_line(text: str) -> None:
    sys.stdout.write(visible(text) + "\n")


def say(text: str) -> None:
    """A line for the person, not for the pipe."""
    sys.stderr.write(visible(text) + "\n")


def notes(lines: Iterable[str]) -> None:
    for line in lines:
        say(f"note: {line}")


def print_table(columns: Sequence[str], rows: Sequence[Mapping[str, Any]], empty: str = "nothing found") -> None:
    """Aligned columns with a head; `empty` goes to stderr when there are no rows."""
    if not rows:
        say(empty)
        return
    cells = [[cell(row.get(column)) for column in columns] for row in rows]
    widths = [max(len(line[place]) for line in [list(columns), *cells]) for place in range(len(columns))]
    if sys.stdout.isatty():
        widths = _fit(widths, shutil.get_terminal_size().columns)
    for line in [list(columns), *cells]:
        parts = (_cut(text, width).ljust(width) for text, width in zip(line, widths, strict=True))
        print_line("  ".join(parts).rstrip())


def print_pairs(pairs: Iterable[tuple[str, Any]]) -> None:
    """One `name  value` a line; what is None is left out."""
    shown = [(name, cell(value)) for name, value in pairs if value is not None]
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        print_line(f"{name.ljust(width)}  {value}")


def cell(value: Any) -> str:
    """A value on one line."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case str():
            return visible(value.replace("\r", "").replace("\n", "⏎").replace("\t", " "))
        case int() | float():
            return str(value)
        case _:
            return visible(json.dumps(value, ensure_ascii=False, default=str))


def visible(text: str) -> str:
    """The text with what a terminal would obey, and what turns writing around, as escapes."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def confirm(question: str, yes: bool) -> None:
    """Ask before a change; without a terminal `--yes` must have been given. Raises InvalidValue, or ends with 1."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidValue("this needs --yes when nobody can be asked; --dry-run shows what it is about")
    import typer

    typer.confirm(question, abort=True, err=True)


def _fit(widths: list[int], total: int) -> list[int]:
    """Narrow the widest columns until all fit."""
    widths = list(widths)
    while sum(widths) + 2 * (len(widths) - 1) > total and max(widths) > MIN_CELL:
        widest = widths.index(max(widths))
        widths[widest] -= 1
    return widths


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"

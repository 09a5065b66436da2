"""Values of any depth as a person reads them: short lines, long lists and texts told by their size."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kgsched.surfaces.cli.output import cell, print_line

MAX_ITEMS = 10
MAX_TEXT = 200
_FEW_NUMBERS = 8
_ITEM_WIDTH = 110


def print_result(result: Any) -> None:
    """A result in its own order: first what is one value, a `name: value` line each, then lists and objects."""
    if not isinstance(result, Mapping):
        print_line(short(result))
        return
    for name, value in result.items():
        if not isinstance(value, list | Mapping):
            print_line(f"{name}: {short(value)}")
    for name, value in result.items():
        if isinstance(value, list):
            _print_list(name, value)
        elif isinstance(value, Mapping):
            print_line(f"{name}: {_pairs(value) or '-'}")


def short(value: Any) -> str:
    """One line: of a long list the first items and how many there are, of a long text its begin."""
    return cell(_cut(value, MAX_TEXT)) if isinstance(value, str) else _short(value)


def _print_list(name: str, values: Sequence[Any]) -> None:
    if not any(isinstance(one, Mapping) for one in values):
        print_line(f"{name}: {', '.join(short(one) for one in values[:MAX_ITEMS]) or '-'}{_rest(values)}")
        return
    print_line(f"{name}: {len(values)}")
    for one in values[:MAX_ITEMS]:
        print_line(f"  {_cut(_pairs(one) if isinstance(one, Mapping) else short(one), _ITEM_WIDTH)}")
    if len(values) > MAX_ITEMS:
        print_line(f"  … and {len(values) - MAX_ITEMS} more; --json prints all")


def _rest(values: Sequence[Any]) -> str:
    return f", … {len(values)} in all" if len(values) > MAX_ITEMS else ""


def _pairs(value: Mapping[str, Any]) -> str:
    return "  ".join(f"{name}={short(one)}" for name, one in value.items())


def _short(value: Any) -> str:
    match value:
        case list() if len(value) > _FEW_NUMBERS and all(isinstance(one, int | float) for one in value):
            return f"[{value[0]}, … {len(value)} numbers]"
        case list():
            more = [f"… {len(value)} items"] if len(value) > MAX_ITEMS else []
            return f"[{', '.join([*map(_short, value[:MAX_ITEMS]), *more])}]"
        case dict():
            fields = (f"{json.dumps(name, ensure_ascii=False)}: {_short(one)}" for name, one in value.items())
            return f"{{{', '.join(fields)}}}"
        case str():
            return cell(json.dumps(_cut(value, MAX_TEXT), ensure_ascii=False))
        case _:
            return cell(value)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"

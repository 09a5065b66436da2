"""Cypher is sent from one place: each statement is named in one module, and no module spells out Cypher."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.queries.headers import ROOT, names

PACKAGE = ROOT / "kgsched"
_CYPHER = re.compile(r"\b(MATCH|MERGE|UNWIND|DETACH DELETE)\b\s*[(\w$]|\bRETURN\b .*\bAS\b")


def _literals(path: Path) -> Iterator[tuple[int, str]]:
    """String literals that are not docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.lineno, node.value


@cache
def _callers() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        for _, text in _literals(path):
            found[text].add(path.relative_to(ROOT).as_posix())
    return found


@pytest.mark.parametrize("name", [name for name in names() if "schema/" not in name])
def test_a_statement_has_exactly_one_caller(name: str) -> None:
    assert len(_callers()[name]) == 1, sorted(_callers()[name])


def test_migrations_are_run_by_number_only() -> None:
    assert [name for name in _callers() if "schema/0" in name] == []


def test_no_python_holds_cypher() -> None:
    """Surfaces may show some to people, in their help."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text[:60]}"
        for path in PACKAGE.rglob("*.py")
        if "surfaces" not in path.parts
        for line, text in _literals(path)
        if _CYPHER.search(text)
    ]
    assert found == []

"""docs/guarantees.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/guarantees.md").read_text(encoding="utf-8")
TESTS = {
    name
    for path in (ROOT / "tests").rglob("test_*.py")
    for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text(encoding="utf-8"), re.M)
}


def test_every_test_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert len(named) > 40
    assert named <= TESTS, sorted(named - TESTS)


def test_every_promise_names_a_test() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith(("| holds", "|---"))]
    assert len(rows) > 25
    assert [row[:60] for row in rows if "`test_" not in row] == []

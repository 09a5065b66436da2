"""Each file under cypher/ says what it is for, what it takes, what it returns and how it is run; and says the truth."""

from __future__ import annotations

import re

import pytest

from kgsched.store.queries import statement, statements
from tests.queries.headers import header, names


def test_the_loader_finds_every_file() -> None:
    assert sorted(statements()) == list(names())


@pytest.mark.parametrize("name", names())
def test_a_header_is_complete_and_true(name: str) -> None:
    one = header(name)
    assert len(one.purpose) > 10, "no purpose"
    assert one.purpose.rstrip().endswith("."), "the purpose is no sentence"
    assert one.returns, "does not say what it returns"
    assert one.mode.split()[0] in ("read", "write", "schema")
    used = frozenset(re.findall(r"\$(\w+)", re.sub(r"//[^\n]*", "", one.body)))
    assert one.parameters == used, "declared and used parameters differ"
    assert statement(name).parameters == used, "the loader sees other parameters"


@pytest.mark.parametrize("name", names())
def test_a_file_is_one_statement_of_plain_text(name: str) -> None:
    body = header(name).body
    assert ";" not in re.sub(r"//[^\n]*|'[^']*'", "", body), "more than one statement"
    assert re.fullmatch(r"(?:[a-z_]+/)*(?:\d{4}_)?[a-z][a-z0-9_]*", name)
    assert max(map(len, body.splitlines()), default=0) <= 180


@pytest.mark.parametrize(
    "name", [name for name in names() if name.split("/")[0] in ("tasks", "jobs", "gates", "schedules")]
)
def test_counters_are_touched_last(name: str) -> None:
    """Schedule, Lane, Gate, tasks, Stat is the order of locks: after a counter nothing else is locked."""
    body = re.sub(r"//[^\n]*", "", header(name).body)
    if "MERGE (c:Stat" not in body:
        return
    after = body[body.rindex("MERGE (c:Stat") :]
    assert "SET c.n = c.n" in after
    writes = re.findall(r"\b(?:SET|CREATE(?! SET)|DELETE|MERGE)\b", after)
    assert writes == ["MERGE", "SET", "SET"], "something is written after the counters"


@pytest.mark.parametrize("name", names())
def test_locks_are_a_plain_write_of_lock_v(name: str) -> None:
    """Any other form was seen to read before it locks, or not to lock at all on a fresh database."""
    body = re.sub(r"//[^\n]*", "", header(name).body)
    for line in body.splitlines():
        if re.search(r"lock_v(?!: 0)", line) and "t.enqueued_at = now" not in line:
            assert re.fullmatch(r"\s*SET \w\.lock_v = 0", line.rstrip()), line

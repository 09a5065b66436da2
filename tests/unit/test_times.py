"""Instants and durations as text: one meaning on every machine, and clear refusals."""

from __future__ import annotations

import ast
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

import kgsched.core
from kgsched.core.times import (
    MAX_INSTANT,
    parse_duration,
    parse_instant,
    show_duration,
    show_instant,
    to_datetime,
    to_millis,
)
from kgsched.errors import InvalidValue


@pytest.fixture(params=["Asia/Tokyo", "America/New_York", "UTC"])
def _machine_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("_machine_zone")
@pytest.mark.parametrize(
    ("text", "utc", "naive"),
    [
        ("2026-09-02T22:30:00", "2026-09-02T22:30:00.000Z", True),
        ("2026-09-02 22:30", "2026-09-02T22:30:00.000Z", True),
        ("2026-09-02T22:30:00+02:00", "2026-09-02T20:30:00.000Z", False),
        ("2026-09-02T22:30:00Z", "2026-09-02T22:30:00.000Z", False),
        ("2026-09-02T22:30:00.750Z", "2026-09-02T22:30:00.750Z", False),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000Z", False),
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z", False),
    ],
)
def test_instant_means_the_same_on_every_machine(text: str, utc: str, naive: bool) -> None:
    millis, was_naive = parse_instant(text)
    assert (show_instant(millis), was_naive) == (utc, naive)


@pytest.mark.parametrize(
    "text",
    ["2026-02-30T00:00", "2026-09-02T24:00", "2026-09-02T24:00:00Z", "1790000000000", "", "noon", "2026-09-02",
     "0000-01-01T00:00Z", "10000-01-01T00:00Z", "9999-12-31T23:59:59-01:00", "1969-12-31T23:59:59Z"],
)  # fmt: skip
def test_what_is_no_instant_of_the_supported_years_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match=r"is not an instant like|is outside the years"):
        parse_instant(text)


def test_every_kind_of_utc_gives_the_same_instant() -> None:
    moment = datetime(2026, 9, 2, 22, 30, 0, 999_999)
    kinds = [moment, moment.replace(tzinfo=UTC), moment.replace(tzinfo=ZoneInfo("UTC")),
             (moment + timedelta(hours=9)).replace(tzinfo=timezone(timedelta(hours=9)))]  # fmt: skip
    assert len({to_millis(kind) for kind in kinds}) == 1


def test_last_instant_can_be_shown_and_read_back() -> None:
    assert show_instant(MAX_INSTANT) == "9999-12-31T23:59:59.999Z"
    assert to_millis(to_datetime(MAX_INSTANT)) == MAX_INSTANT
    assert show_instant(None) is None


@pytest.mark.parametrize(
    ("value", "millis"),
    [("90", 90_000), (90, 90_000), (1.5, 1_500), ("30s", 30_000), ("1.5h", 5_400_000), ("1h30m", 5_400_000),
     ("2D", 172_800_000), ("2w", 1_209_600_000), ("250ms", 250), ("0", 0)],
)  # fmt: skip
def test_duration_with_and_without_a_unit(value: str | int | float, millis: int) -> None:
    assert parse_duration(value) == millis
    assert parse_duration(show_duration(millis)) == millis


@pytest.mark.parametrize(
    "value",
    ["", "x", "-5", "5 m", "1e9", "\u0665s", "9" * 400 + "s", "999999999999999d", True, float("nan"), float("inf")],
)
def test_what_is_no_duration_is_refused(value: str | float) -> None:
    with pytest.raises(InvalidValue, match=r"is not a duration like|is longer than 100 years"):
        parse_duration(value)


def test_core_never_looks_at_a_clock() -> None:
    folder = Path(str(kgsched.core.__file__)).parent
    calls = {
        f"{path.name}:{node.lineno} {node.func.attr}"
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"now", "utcnow", "today", "time", "monotonic", "localtime"}
    }  # fmt: skip
    assert calls == set()

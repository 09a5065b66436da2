"""The file of desired schedules: entries, variables, and all mistakes of a file at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kgsched.core.desired import DesiredSchedule
from kgsched.core.times import parse_instant
from kgsched.errors import InvalidFile
from kgsched.operations.schedules_file import find, load, origin

SHIPPED = Path(__file__).parents[2] / "deploy" / "schedules.yml"
Read = Callable[..., list[DesiredSchedule]]
JOBS = ("research_feed", "loop_cycle", "enrichment", "archive", "purge", "count_check")


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def write_and_load(text: str, **environ: str) -> list[DesiredSchedule]:
        path = tmp_path / "schedules.yml"
        path.write_text(text, encoding="utf-8")
        return load(path, environ, JOBS)

    return write_and_load


def one(entries: list[DesiredSchedule]) -> DesiredSchedule:
    (entry,) = entries
    return entry


def problems(refused: pytest.ExceptionInfo[InvalidFile]) -> list[tuple[int | None, str]]:
    return list(refused.value.problems)


def entry(*lines: str) -> str:
    return "\n".join(["schedules:", "  s:", *(f"    {line}" for line in lines)])


# the shipped file


def test_shipped_file_has_the_feed_on_and_the_systems_own_jobs() -> None:
    entries = {made.name: made for made in load(SHIPPED, {}, JOBS)}
    assert set(entries) == set(JOBS)
    feed = entries["research_feed"]
    assert (feed.trigger, feed.enabled, feed.prio_bucket, feed.type) == ("every 30m", True, 2, "scheduled_job")
    assert feed.payload == '{"job":"research_feed"}'
    assert entries["loop_cycle"].trigger == "every 1h"
    assert entries["enrichment"].trigger == "every 15m"
    assert all(made.enabled for made in entries.values())


@pytest.mark.parametrize(("text", "enabled"), [("false", False), ("0", False), ("off", False), ("1", True), ("", True)])
def test_variables_set_interval_and_switch_of_the_feed(text: str, enabled: bool) -> None:
    environ = {"KG_RESEARCH_FEED": text, "KG_RESEARCH_FEED_INTERVAL": "900"}
    feed = next(made for made in load(SHIPPED, environ, JOBS) if made.name == "research_feed")
    assert (feed.trigger, feed.enabled) == ("every 15m", enabled)


# entries


def test_entry_with_every_key(read: Read) -> None:
    made = one(read(entry(
        'cron: "0 6 * * mon-fri"', "timezone: Europe/Paris", "dst: {gap: skip, fold: both}", "type: report",
        "payload: {to: [a, 1, 1.5, true, null], day: 2026-01-01}", "priority: high", "enabled: false", "jitter: 5m",
        "start: 2027-01-01T00:00:00Z", "end: 2028-01-01T00:00:00+01:00", "overlap: allow", "catch_up: all",
        "catch_up_window: 2d", "pause_after_failures: 5", 'description: "the morning report"',
    )))  # fmt: skip
    assert made == DesiredSchedule(
        name="s", trigger="cron 0 6 * * mon-fri", timezone="Europe/Paris", dst_gap="skip", dst_fold="both",
        type="report", payload='{"day":"2026-01-01","to":["a",1,1.5,true,null]}',
        prio_bucket=1, enabled=False, jitter_ms=300_000,
        start=parse_instant("2027-01-01T00:00Z")[0], end=parse_instant("2027-12-31T23:00Z")[0],
        overlap="allow", catch_up="all", catch_up_window_ms=172_800_000, pause_after_failures=5,
        description="the morning report", line=2,
    )  # fmt: skip


def test_defaults_of_an_entry(read: Read) -> None:
    made = one(read(entry("every: 90", "type: t")))
    assert made == DesiredSchedule(name="s", trigger="every 1m30s", type="t", line=2)
    cron = one(read(entry("cron: '@daily'", "type: t")))
    assert (cron.trigger, cron.timezone, cron.dst_gap, cron.dst_fold) == ("cron 0 0 * * *", "UTC", "run_after", "first")


def test_naive_instant_is_read_as_utc_and_said_so(read: Read) -> None:
    made = one(read(entry("at: 2026-09-02T22:30:00", "type: t")))
    assert made.trigger == "at 2026-09-02T22:30:00.000Z"
    assert made.notes == ("s: at 2026-09-02T22:30:00 has no offset and was read as UTC",)


def test_order_of_the_file_is_kept_and_none_can_be_wished_for(read: Read) -> None:
    text = "schedules:\n" + "".join(f"  s{n}: {{every: 5m, type: t}}\n" for n in (3, 1, 2))
    assert [made.name for made in read(text)] == ["s3", "s1", "s2"]
    assert read("schedules: {}\n") == []


# variables


def test_variable_is_one_value_and_never_structure(read: Read) -> None:
    made = one(read(entry("every: 5m", "type: t", "payload: {a: '${KG_A}', b: '${KG_B:-x}-${KGSCHED_C:-y}', c: $HOME}"),
                    KG_A="{evil: [1]}\nkey: 1", KGSCHED_C="z"))  # fmt: skip
    assert made.payload == '{"a":"{evil: [1]}\\nkey: 1","b":"x-z","c":"$HOME"}'


def test_variable_of_another_kind_is_not_looked_up(read: Read) -> None:
    made = one(read(entry("every: 5m", "type: t", "payload: {a: '${AWS_SECRET}'}"), AWS_SECRET="hidden"))
    assert made.payload == '{"a":"${AWS_SECRET}"}'


def test_mistake_in_a_variable_names_it(read: Read) -> None:
    with pytest.raises(InvalidFile) as refused:
        read(entry("every: ${KG_GAP:-60}", "type: ${KG_TYPE}", "enabled: ${KG_ON:-true}"), KG_GAP="soon", KG_ON="maybe")
    assert [line for line, _ in problems(refused)] == [3, 4, 4, 5]
    message = str(refused.value)
    assert "every: 'soon' is not a duration" in message
    assert "(from KG_GAP)" in message
    assert "the variable KG_TYPE is not set, and there is no default" in message
    assert "'maybe' is not true or false (from KG_ON)" in message


# mistakes

MISTAKES = """\
schedules:
  a:
    every: 30m
    cron: "61 * * * *"
    job: research_fed
  b:
    evry: 5m
    type: t
  c:
    cron: */5 * * * *   # without quotes
    timezone: Europe/Pariss
    type: t
    prioirty: 1
    payload: {a: 1, a: 2, t: 1:30}
  d: {every: 0.5, type: t, enabled: maybe, jitter: 1h}
  Bad Name:
    every: 5m
    type: t
  e: 7
  f:
    at: 2026-02-30T00:00:00Z
    type: t
    catch_up_window: 5m
    dst: {gap: skip}
    payload: [1]
  f:
    every: &x 5m
    type: *x
  g:
    cron: "0 0 30 2 *"
    timezone:
    type: t
    priority: 9
    start: 2027-01-01T00:00:00Z
    end: 2026-01-01T00:00:00Z
    overlap: skip
    pause_after_failures: 0
  h:
    every: 5s
    jitter: 5s
    type: !!python/object/apply:os.system [echo]
    job: purge
unknown: 1
"""
EXPECTED = [
    (2, "a: give exactly one of every, cron, at, not every and cron"),
    (4, "minute '61' is not 0 to 59"),
    (5, "did you mean 'research_feed'?"),
    (6, "b: give exactly one of every, cron, at, not none"),
    (7, "b: unknown key 'evry'; did you mean 'every'?"),
    (10, "cron must stand in quotes: '*/5 * * * *'"),
    (11, "no time zone named 'Europe/Pariss'; did you mean 'Europe/Paris'"),
    (13, "c: unknown key 'prioirty'; did you mean 'priority'?"),
    (14, "'a' is given twice; the first is in line 14"),
    (14, "1:30 is not a decimal number"),
    (15, "interval 500ms is not between 1s and 100 years"),
    (15, "'maybe' is not true or false"),
    (16, "schedule name 'Bad Name' must be"),
    (19, "e: must hold keys"),
    (21, "day is out of range for month"),
    (23, "f: catch_up_window only goes with catch_up: all"),
    (24, "f: dst only goes with cron, not with at"),
    (25, "f: payload must hold keys and values"),
    (26, "'f' is given twice; the first is in line 20"),
    (27, "anchors are not allowed; remove &x"),
    (28, "aliases are not allowed; write out what *x stands for"),
    (30, "day of month 30 does not exist"),
    (31, "g: timezone is empty"),
    (33, "priority 9 is not one of critical"),
    (35, "g: end must be after start"),
    (36, "'skip' is not one of coalesce, allow, cancel_other"),
    (37, "0 is not a whole number from 1 up"),
    (38, "h: give either job (a built-in) or type (of your own tasks), not both"),
    (40, "h: jitter must be shorter than the interval"),
    (41, "is not allowed; use plain values"),
    (43, "unknown key 'unknown'"),
]


def test_all_mistakes_of_a_file_come_at_once_with_their_lines(read: Read) -> None:
    with pytest.raises(InvalidFile) as refused:
        read(MISTAKES)
    found = problems(refused)
    for line, text in EXPECTED:
        assert any(line == at and text in said for at, said in found), (line, text, found)
    assert len(found) <= len(EXPECTED) + 2
    assert [line or 0 for line, _ in found] == sorted(line or 0 for line, _ in found)
    assert f"schedules.yml:{found[0][0]}: {found[0][1]}" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", None, "is empty; write 'schedules: {}'"),
        ("# nothing\n", None, "is empty"),
        ("- a\n", 1, "must begin with 'schedules:'"),
        ("shedules: {}\n", 1, "did you mean 'schedules'?"),
        ("schedules:\n", 1, "schedules must hold one name per entry"),
        ("schedules:\n  a: [1, 2\n", 3, "expected ',' or ']'"),
        ("schedules:\n\ta: 1\n", 2, "cannot start any token"),
        ("schedules: {}\n---\nschedules: {}\n", 2, "but found another document"),
        ("schedules: {}\nx: \x07\n", None, "special characters are not allowed"),
        ("schedules:\n  [a]: 1\n", 2, "a key must be text"),
        ("schedules:\n  <<: {a: 1}\n", 2, "schedule name '<<'"),
        (entry("every: 5m", "type: t", "payload: {n: 0x1F}"), 5, "0x1F is not a decimal number"),
        (entry("every: 5m", "type: t", "payload: {n: .nan}"), 5, ".nan is not a number"),
        (entry("every: 1:30", "type: t"), 3, "1:30 is not a decimal number"),
        (entry("every: 5m", "type: t", "job: x"), 2, "not both"),
        (entry("every: 5m"), 2, "not none"),
        (entry("every: 5m", "job: purge", "payload: {}"), 5, "payload goes with type"),
        (entry("every: 5m", "type: t", "timezone: UTC"), 5, "timezone only goes with cron, not with every"),
        (entry("cron: '0 0 * * *'", "type: t", "timezone: null"), 5, "timezone is empty"),
        (entry("cron: '0 0 * * *'", "type: t", "timezone: ../etc/passwd"), 5, "no time zone named '../etc/passwd'"),
        (entry("cron: '0 0 * * *'", "type: t", "dst: {gpa: skip}"), 5, "unknown key 'gpa'; did you mean 'gap'?"),
        (entry("cron: '0 0 * * *'", "type: t", "dst: skip"), 5, "dst must hold gap and fold"),
        (entry("cron: 5", "type: t"), 3, "5 is not text; put it in quotes"),
        (entry("every: [5m]", "type: t"), 3, "every must be one value"),
        (entry("every: 5m", "type: t", "enabled: 1"), 5, "1 is not true or false"),
        (entry("every: 5m", f"type: {'t' * 200}"), 4, "the limit is 128"),
        (entry("every: 5m", "type: t", "priority: 1.0"), 5, "priority 1.0 is not one of"),
    ],
)
def test_mistake_has_its_line_and_its_remedy(read: Read, text: str, line: int | None, reason: str) -> None:
    with pytest.raises(InvalidFile) as refused:
        read(text)
    assert any(at == line and reason in said for at, said in problems(refused)), problems(refused)


def test_bombs_are_refused(read: Read, tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="aliases are not allowed"):
        read("a: &a [x, x]\nb: &b [*a, *a]\nschedules: {s: {every: 5m, type: t, payload: {x: [*b, *b]}}}\n")
    with pytest.raises(InvalidFile, match="nested too deeply"):
        read("schedules: " + "[" * 3_000)
    with pytest.raises(InvalidFile, match="the limit is 1048576"):
        read("#" * 1_100_000)
    path = tmp_path / "latin"
    path.write_bytes(b"schedules: {}\n# caf\xe9\n")
    with pytest.raises(InvalidFile, match="latin:2: is not UTF-8 text"):
        load(path, {})


# where it lies


def test_named_file_comes_first_then_the_folders_then_the_shipped_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find(None, {}).samefile(SHIPPED)
    here = tmp_path / "deploy" / "schedules.yml"
    here.parent.mkdir()
    here.write_text("schedules: {}\n")
    assert find(None, {}).samefile(here)
    assert (origin(None, {}), origin(here, {})) == ("default", "default")
    other, third = tmp_path / "other.yml", tmp_path / "third.yml"
    other.write_text("")
    third.write_text("")
    assert find(None, {"KGSCHED_SCHEDULES": str(other)}) == other
    assert find(third, {"KGSCHED_SCHEDULES": str(other)}) == third


def test_a_named_file_is_an_origin_of_its_own(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yml"
    mine.write_text("schedules: {}\n", encoding="utf-8")
    assert {origin(mine, {}), origin(None, {"KGSCHED_SCHEDULES": str(mine)})} == {str(mine.resolve())}


def test_named_file_that_is_not_there_is_an_error_and_no_other_is_taken(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="no such file; KGSCHED_SCHEDULES names it"):
        find(None, {"KGSCHED_SCHEDULES": str(tmp_path / "nowhere.yml")})
    with pytest.raises(InvalidFile, match="no such file; --schedules names it"):
        find(tmp_path, {})

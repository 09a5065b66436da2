"""Schedules: what a file makes of them, live changes, and ticks by hand."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kgsched.errors import Conflict, InvalidFile, InvalidValue, UnknownName
from kgsched.operations.facade import Operations
from kgsched.operations.new_task import EnqueueRequest
from kgsched.registry import Registry
from tests.store.worlds import World, broken
from tests.surfaces.rules import RULES

FILE = """
schedules:
  sweep:
    job: heal
    every: 30m
    priority: background
  nightly:
    job: purge
    cron: "15 3 * * *"
    timezone: Europe/Paris
  mine:
    type: ask
    payload: {q: "why"}
    every: 10s
"""
PACKAGED = Path(__file__).resolve().parents[2] / "deploy" / "schedules.yml"


@pytest.fixture
async def applied(operations: Operations, tmp_path: Path) -> Operations:
    await apply(operations, tmp_path, FILE)
    return operations


async def apply(operations: Operations, folder: Path, text: str) -> object:
    path = folder / "schedules.yml"
    path.write_text(text, encoding="utf-8")
    return await operations.schedules.apply(path, "test", {})


async def test_a_file_makes_schedules_that_are_due_later_in_their_lanes(applied: Operations, world: World) -> None:
    now = await world.now()
    rows = await world.cypher("MATCH (s:Schedule) RETURN s {.*} AS s ORDER BY s.name")
    found = {row["s"]["name"]: row["s"] for row in rows}
    assert {name: one["lane"] for name, one in found.items()} == {
        "mine": "queries",
        "nightly": "maint",
        "sweep": "maint",
    }
    assert found["sweep"]["every_ms"] == 1_800_000
    assert all(one["next_run"] > now - 5_000 for one in found.values())
    assert found["sweep"]["payload"] == '{"job":"heal"}'


async def test_applying_the_same_file_again_changes_nothing(
    operations: Operations, world: World, tmp_path: Path
) -> None:
    first = await apply(operations, tmp_path, FILE)
    again = await apply(operations, tmp_path, FILE)
    assert first.created == ("sweep", "nightly", "mine")  # type: ignore[attr-defined]
    assert (again.created, again.changed, set(again.unchanged)) == ((), (), {"sweep", "nightly", "mine"})  # type: ignore[attr-defined]
    assert (await world.cypher("MATCH (r:ScheduleRevision) RETURN count(r) AS n"))[0]["n"] == 3


async def test_many_processes_that_apply_the_file_at_once_make_each_schedule_once(
    operations: Operations, world: World, tmp_path: Path
) -> None:
    (tmp_path / "schedules.yml").write_text(FILE, encoding="utf-8")
    done = await asyncio.gather(
        *(operations.schedules.apply(tmp_path / "schedules.yml", f"p{n}", {}) for n in range(8))
    )
    assert sorted(name for one in done for name in one.created) == ["mine", "nightly", "sweep"]
    assert (await world.cypher("MATCH (s:Schedule) RETURN count(s) AS n"))[0]["n"] == 3


async def test_what_was_changed_live_stays_until_the_file_changes_that_same_field(
    applied: Operations, tmp_path: Path
) -> None:
    await applied.schedules.prioritize("sweep", "critical", "ada")
    await applied.schedules.set_interval("sweep", 60, "ada")
    await apply(applied, tmp_path, FILE.replace("every: 30m", "every: 45m"))
    record = await applied.schedules.show("sweep")
    assert (record["priority"], record["trigger"]) == ("critical", "every 45m")


async def test_a_removed_entry_is_disabled_and_one_made_by_hand_is_not(
    applied: Operations, world: World, tmp_path: Path
) -> None:
    fields = {
        "trigger": "every 1h",
        "type": "ask",
        "enabled": True,
        "payload": "{}",
        "prio_bucket": 2,
        "lane": "queries",
    }
    await world.store.schedules.create("default", "by-hand", fields, "ada", "made")
    done = await apply(applied, tmp_path, "schedules:\n  sweep:\n    job: heal\n    every: 30m\n")
    assert set(done.disabled) == {"mine", "nightly"}  # type: ignore[attr-defined]
    assert {row["name"]: row["enabled"] for row in await applied.schedules.list_schedules()} == {
        "by-hand": True,
        "mine": False,
        "nightly": False,
        "sweep": True,
    }


async def test_two_files_leave_each_other_alone(applied: Operations, tmp_path: Path) -> None:
    other = tmp_path / "other.yml"
    other.write_text("schedules:\n  theirs:\n    job: heal\n    every: 30m\n", encoding="utf-8")
    done = await applied.schedules.apply(other, "test", {})
    assert (done.created, done.disabled, done.notes) == (("theirs",), (), ())
    again = await applied.schedules.apply(tmp_path / "schedules.yml", "test", {})
    assert (again.changed, again.disabled) == ((), ())
    assert all(row["enabled"] for row in await applied.schedules.list_schedules())


async def test_a_type_without_a_handler_is_noted_with_near_ones(operations: Operations, tmp_path: Path) -> None:
    done = await apply(operations, tmp_path, FILE.replace("type: ask", "type: aks"))
    (note,) = done.notes  # type: ignore[attr-defined]
    assert "no handler has type 'aks' (did you mean 'ask'?)" in note


async def test_a_dry_run_tells_and_changes_nothing(applied: Operations, tmp_path: Path) -> None:
    path = tmp_path / "schedules.yml"
    path.write_text(FILE.replace("30m", "45m").replace("mine:", "yours:"), encoding="utf-8")
    done = await applied.schedules.apply(path, "test", {}, dry_run=True)
    assert (done.created, done.changed, done.disabled) == (("yours",), ("sweep",), ("mine",))
    assert {row["name"]: (row["enabled"], row["version"]) for row in await applied.schedules.list_schedules()} == {
        "mine": (True, 1),
        "nightly": (True, 1),
        "sweep": (True, 1),
    }


async def test_a_file_with_mistakes_applies_nothing_and_names_every_line(
    operations: Operations, world: World, tmp_path: Path
) -> None:
    lines = ["schedules:", "  a:", "    job: heel", "    every: 30m", "  b:", "    job: heal", "    cron: '99 * * * *'"]
    text = "\n".join([*lines, "  c:", "    evry: 1h", ""])
    with pytest.raises(InvalidFile) as caught:
        await apply(operations, tmp_path, text)
    assert {line for line, _ in caught.value.problems} >= {3, 7, 9}
    assert (await world.cypher("MATCH (s:Schedule) RETURN count(s) AS n"))[0]["n"] == 0


async def test_every_change_says_who_and_what(applied: Operations) -> None:
    await applied.schedules.disable("sweep", "ada")
    await applied.schedules.enable("sweep", "bob")
    record = await applied.schedules.show("sweep")
    assert [(one["number"], one["by"]) for one in record["revisions"]] == [(3, "bob"), (2, "ada"), (1, "test")]
    assert record["version"] == 3


async def test_a_disabled_schedule_has_no_next_run_and_an_enabled_one_never_fires_at_once(
    applied: Operations, world: World
) -> None:
    assert (await applied.schedules.disable("sweep", "ada")).schedule["next_run"] is None
    await world.cypher("MATCH (s:Schedule {name: 'sweep'}) SET s.anchor = 0, s.created_at = 0, s.paused_why = 'x'")
    now = await world.now()
    await applied.schedules.enable("sweep", "ada")
    row = (await world.cypher("MATCH (s:Schedule {name: 'sweep'}) RETURN s.next_run AS next, s.paused_why AS why"))[0]
    assert (now < row["next"] <= now + 1_805_000, row["why"]) == (True, None)


async def test_a_change_that_changes_nothing_says_so_and_leaves_no_revision(applied: Operations) -> None:
    done = await applied.schedules.enable("sweep", "ada")
    assert (done.notes, done.schedule["version"]) == (("sweep: is enabled already",), 1)


async def test_set_interval_turns_cron_into_an_interval_and_says_so(applied: Operations) -> None:
    done = await applied.schedules.set_interval("nightly", "15m", "ada")
    assert done.schedule["trigger"] == "every 15m"
    assert done.schedule["timezone"] is None
    assert "was 'cron 15 3 * * *' in Europe/Paris" in done.notes[0]


@pytest.mark.parametrize("interval", ["0.5", "fast", "-1", 0, "101000d"])
async def test_an_interval_that_is_none_is_refused(applied: Operations, interval: str) -> None:
    with pytest.raises(InvalidValue):
        await applied.schedules.set_interval("sweep", interval, "ada")
    assert (await applied.schedules.show("sweep"))["version"] == 1


async def test_changes_at_the_same_time_are_all_made(applied: Operations) -> None:
    await asyncio.gather(
        *(applied.schedules.prioritize("sweep", n % 3, f"p{n}") for n in range(4)),
        applied.schedules.disable("mine", "ada"),
        applied.schedules.set_interval("sweep", 120, "ada"),
    )
    record = await applied.schedules.show("sweep")
    assert record["trigger"] == "every 2m"
    assert len({one["number"] for one in record["revisions"]}) == record["version"]


async def test_a_graph_without_schedules_says_that_no_file_was_loaded(operations: Operations) -> None:
    with pytest.raises(UnknownName, match="no daemon has loaded the schedules file"):
        await operations.schedules.run_now("sweep")


async def test_an_unknown_name_has_near_ones(applied: Operations) -> None:
    for ask in (
        applied.schedules.show("sweeep"),
        applied.schedules.run_now("sweeep"),
        applied.schedules.enable("sweeep", "ada"),
        applied.schedules.set_interval("sweeep", 60, "ada"),
        applied.schedules.check_name("sweeep"),
    ):
        with pytest.raises(UnknownName, match="did you mean 'sweep'"):
            await ask


async def test_show_previews_the_next_runs_in_plain_words(applied: Operations) -> None:
    record = await applied.schedules.show("nightly")
    assert record["when"] == "at 03:15, Europe/Paris"
    assert len(record["next_runs"]) == 5
    assert record["next_runs"][0] == record["next_run"]
    assert record["next_runs"] == sorted(record["next_runs"])


async def test_run_now_works_while_disabled_and_keeps_the_phase(applied: Operations, world: World) -> None:
    await applied.schedules.disable("mine", "ada")
    tick = await applied.schedules.run_now("mine")
    assert tick.id.startswith("run:mine:")
    assert (await applied.schedules.show("mine"))["next_run"] is None
    assert (await world.claim_one(RULES)).id == tick.id


async def test_a_second_run_now_takes_the_tick_that_waits_and_raises_it(applied: Operations, world: World) -> None:
    first = await applied.schedules.run_now("mine")
    second = await applied.schedules.run_now("mine", priority="critical")
    assert (second.uid, first.coalesced, second.coalesced) == (first.uid, False, True)
    assert (await world.task(first.uid))["prio_bucket"] == 0
    with pytest.raises(Conflict, match="another payload"):
        await applied.schedules.run_now("mine", payload={"q": "how"})
    assert await broken(world.store) == []


async def test_run_now_of_a_waiting_schedule_shows_its_tick(applied: Operations) -> None:
    tick = await applied.schedules.run_now("sweep")
    assert (await applied.schedules.show("sweep"))["waiting"] == tick.id


async def test_the_desired_file_of_the_package_applies(
    operations: Operations, registry: Registry, tmp_path: Path
) -> None:
    from kgsched.app.built_in import add_built_in
    from kgsched.config import load_settings

    full = Registry()
    add_built_in(full, load_settings())
    for job in full.jobs():
        registry.add_job(job)
    done = await operations.schedules.apply(PACKAGED, "test", {"KG_RESEARCH_FEED": "false"})
    assert "research_feed" in done.created
    rows = {row["name"]: row for row in await operations.schedules.list_schedules()}
    assert (rows["research_feed"]["enabled"], rows["loop_cycle"]["enabled"]) == (False, True)
    assert rows["research_feed"]["job"] == "research_feed"


async def test_ticks_of_a_user_type_carry_its_payload(applied: Operations, world: World) -> None:
    tick = await applied.schedules.run_now("mine", payload={"q": "how"})
    assert (await world.task(tick.uid))["payload"] == '{"q":"how"}'
    await applied.tasks.cancel([tick.id])
    assert (await world.task((await applied.schedules.run_now("mine")).uid))["payload"] == '{"q":"why"}'


async def test_a_task_of_the_user_cannot_take_the_id_of_a_slot(applied: Operations) -> None:
    with pytest.raises(InvalidValue):
        await applied.tasks.enqueue(EnqueueRequest("ask", id="sched:mine:1"))

"""Daemons as processes: drained, stopped, killed, and several on one graph."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from tests.runtime.bench import Bench, until
from tests.runtime.daemons import alive, running_daemon


async def leave_no_leader(bench: Bench) -> None:
    """The lease of a leader that is gone is over."""
    await bench.world.cypher("MATCH (l:Lease) SET l.expires_at = 1")


async def test_sigterm_lets_short_bodies_finish_and_gives_the_others_back(bench: Bench, tmp_path: Path) -> None:
    """SD01: no claim after the signal; what is given back is ready at once."""
    short = [await bench.enqueue("short", {"seconds": 6.0}) for _ in range(2)]
    long = [await bench.enqueue("long") for _ in range(2)]
    queued = [await bench.enqueue("short") for _ in range(10)]
    async with running_daemon(bench.address, tmp_path, drain=12.0) as daemon:
        began = await daemon.has("began", 4)
        daemon.signal(signal.SIGTERM)
        assert await daemon.ended() == 0
        assert sorted(daemon.lines("ended")) == sorted(task.uid for task in short)
        assert daemon.lines("began") == began
    assert await bench.world.statuses(*short, *long) == ["completed"] * 2 + ["pending"] * 2
    rows = [await bench.world.task(task) for task in long]
    assert [(row["attempts"], row["releases"]) for row in rows] == [(0, 1)] * 2
    assert await bench.world.statuses(*queued) == ["pending"] * 10
    assert await bench.world.count("MATCH (w:Worker)") == 0
    assert await bench.world.broken() == []


async def test_nothing_begins_after_the_signal_though_slots_are_free(bench: Bench, tmp_path: Path) -> None:
    """SD01: not even while the daemon is held up in leaving: here somebody holds the leader's lease."""
    async with running_daemon(bench.address, tmp_path, drain=5.0) as daemon:
        await until(lambda: bench.world.count("MATCH (l:Lease)"))
        async with bench.world.store.graph.transaction() as tx:
            await tx.run("MATCH (l:Lease) SET l.lock_v = 0")
            daemon.signal(signal.SIGTERM)
            await until((tmp_path / "draining").exists)
            tasks = [await bench.enqueue("short", {"seconds": 0.0}) for _ in range(10)]
            assert await daemon.ended() == 0
    assert daemon.lines("began") == []
    assert await bench.world.statuses(*tasks) == ["pending"] * 10


async def test_a_deaf_thread_does_not_keep_the_process_alive(bench: Bench, tmp_path: Path) -> None:
    task = await bench.enqueue("deaf")
    async with running_daemon(bench.address, tmp_path, drain=0.1) as daemon:
        await daemon.has("began", 1)
        daemon.signal(signal.SIGTERM)
        assert await daemon.ended() == 0
    assert await bench.world.status(task) == "pending"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
async def test_a_second_signal_stops_now_and_burns_no_attempt(
    bench: Bench, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """SD01."""
    task = await bench.enqueue("long")
    async with running_daemon(bench.address, tmp_path, drain=600.0) as daemon:
        await daemon.has("began", 1)
        daemon.signal(signal.SIGTERM)
        await until(lambda: bench.world.count("MATCH (l:Lease) WHERE l.expires_at <= timestamp()"))
        daemon.signal(number)
        assert await daemon.ended() == code
    row = await bench.world.task(task)
    assert (row["status"], row["attempts"]) == ("pending", 0)


async def test_a_killed_workers_task_runs_again_once(bench: Bench, tmp_path: Path) -> None:
    task = await bench.enqueue("once")
    async with running_daemon(bench.address, tmp_path, lease=2.0, beat=0.5, grace=0.2) as first:
        await first.has("began", 1)
        first.signal(signal.SIGKILL)
        await first.ended()
    await leave_no_leader(bench)
    async with running_daemon(bench.address, tmp_path, lease=2.0, beat=0.5, grace=0.2) as second:
        (done,) = await bench.ended(task)
        assert second.lines("began") == [f"{task.uid} 1", f"{task.uid} 2"]
    assert (done["status"], done["claims"], done["crashes"]) == ("completed", 2, 1)
    assert await bench.world.broken() == []


async def test_the_processes_of_a_killed_worker_die_with_it(bench: Bench, tmp_path: Path) -> None:
    await bench.enqueue("hang", {"folder": str(tmp_path)})
    async with running_daemon(bench.address, tmp_path) as daemon:
        (pid,) = await daemon.has("self", 1)
        (child,) = await daemon.has("child", 1)
        daemon.signal(signal.SIGKILL)
        await daemon.ended()
        await until(lambda: not alive(int(pid)) and not alive(int(child)))


async def test_two_daemons_fire_each_slot_of_a_schedule_once(bench: Bench, tmp_path: Path) -> None:
    fields = {
        "enabled": True,
        "trigger": "every 1s",
        "every_ms": 1_000,
        "type": "scheduled_job",
        "lane": "maint",
        "payload": '{"job":"drum"}',
        "prio_bucket": 2,
        "overlap": "coalesce",
        "catch_up": "latest",
        "next_run": await bench.world.now() // 1_000 * 1_000,
    }
    async with (
        running_daemon(bench.address, tmp_path / "a") as one,
        running_daemon(bench.address, tmp_path / "b") as other,
    ):
        await bench.world.store.schedules.create("default", "drum", fields, "test", "made")
        await until(lambda: len(one.lines("ticks")) + len(other.lines("ticks")) >= 4)
        slots = one.lines("ticks") + other.lines("ticks")
        assert len(set(slots)) == len(slots)
        await until(lambda: bench.world.count("MATCH (s:Schedule) WHERE s.last_run IS NOT NULL"))


async def test_another_daemon_takes_over_when_the_leader_dies(bench: Bench, tmp_path: Path) -> None:
    async with running_daemon(bench.address, tmp_path / "a") as leader:
        await until(lambda: bench.world.count("MATCH (l:Lease) WHERE l.holder IS NOT NULL"))
        async with running_daemon(bench.address, tmp_path / "b") as other:
            leader.signal(signal.SIGKILL)
            await leader.ended()
            await leave_no_leader(bench)
            name = (tmp_path / "b" / "started").read_text()
            await until(lambda: bench.world.count("MATCH (l:Lease) WHERE l.holder = $name", name=name))
            task = await bench.enqueue("short", {"seconds": 0.0}, eta=await bench.world.now() + 1_500)
            await bench.ended(task)
            assert await other.has("ended", 1) == [task.uid]


async def test_a_daemon_that_was_stopped_for_longer_than_its_lease_loses_its_task(bench: Bench, tmp_path: Path) -> None:
    task = await bench.enqueue("once")
    async with running_daemon(bench.address, tmp_path, lease=2.0, beat=0.5, grace=0.2) as frozen:
        await frozen.has("began", 1)
        frozen.signal(signal.SIGSTOP)
        await leave_no_leader(bench)
        try:
            async with running_daemon(bench.address, tmp_path, lease=2.0, beat=0.5, grace=0.2):
                (done,) = await bench.ended(task)
        finally:
            frozen.signal(signal.SIGCONT)
        frozen.signal(signal.SIGTERM)
        assert await frozen.ended() == 0
    again = await bench.world.task(task)
    assert (done["status"], again["status"], again["claims"]) == ("completed", "completed", 2)
    assert again["finished_at"] == done["finished_at"]


async def test_a_daemon_starts_and_drains_while_the_database_is_away(bench: Bench, tmp_path: Path) -> None:
    """SD01."""
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    nobody = type(bench.address)(**{**_fields(bench.address), "uri": f"bolt://127.0.0.1:{_port(server)}"})
    async with server, running_daemon(nobody, tmp_path) as daemon:
        daemon.signal(signal.SIGTERM)
        assert await daemon.ended() == 0


def _port(server: asyncio.Server) -> int:
    return int(server.sockets[0].getsockname()[1])


def _fields(address: object) -> dict[str, object]:
    return {name: getattr(address, name) for name in type(address).__dataclass_fields__}  # type: ignore[attr-defined]

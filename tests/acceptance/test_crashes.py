"""Workers and databases that die, stall and come back, as processes."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from tests.acceptance.commands import Commands, environment, until

pytestmark = pytest.mark.processes
HANDLERS = ("--import", "tests.acceptance.handlers")


def notes(commands: Commands, kind: str) -> list[list[str]]:
    lines = Path(commands.env["NOTES"]).read_text().splitlines()
    return [words for line in lines if (words := line.split())[0] == kind]


def task(commands: Commands, id_: str) -> dict[str, object]:
    shown: dict[str, object] = json.loads(commands.run("kgsched", "tasks", "show", id_, "--json").stdout)
    return shown


def enqueue(commands: Commands, type_: str, id_: str, *words: str) -> None:
    commands.run("kgsched", "tasks", "enqueue", type_, "--id", id_, "--allow-unknown-type", *words)


def test_sigterm_lets_short_bodies_finish_and_gives_the_rest_back(commands: Commands) -> None:
    with commands.daemon(*HANDLERS, "--slots", "2") as daemon:
        for number in range(4):
            enqueue(commands, "until_told", f"t{number}")
        until(lambda: len(notes(commands, "began")) == 2)
        assert daemon.end(signal.SIGTERM) == 0
    began = {words[1] for words in notes(commands, "began")}
    assert len(began) == 2, "something was claimed after the signal"
    shown = {f"t{number}": task(commands, f"t{number}") for number in range(4)}
    assert {str(one["status"]) for one in shown.values()} == {"pending"}
    assert {str(shown[id_]["attempts"]) for id_ in began} == {"0"}, "a drain used up an attempt"


def test_a_second_signal_stops_at_once(commands: Commands) -> None:
    with commands.daemon(*HANDLERS, KGSCHED_DRAIN="600") as daemon:
        enqueue(commands, "until_told", "t")
        until(lambda: notes(commands, "began"))
        daemon.send(signal.SIGINT)
        daemon.wait_for("daemon_drains")
        assert daemon.end(signal.SIGINT) == 128 + signal.SIGINT
    assert task(commands, "t")["status"] in {"running", "pending"}
    assert not notes(commands, "ended")


def test_a_killed_workers_task_runs_again_once(hasty: Commands) -> None:
    with hasty.daemon() as _:
        with hasty.daemon(*HANDLERS, command="worker") as first:
            enqueue(hasty, "until_told", "t")
            until(lambda: notes(hasty, "began"))
            first.kill()
        Path(hasty.env["GO"]).touch()
        with hasty.daemon(*HANDLERS, command="worker"):
            hasty.run("kgsched", "tasks", "wait", "t", "--timeout", "60")
    before, after = (int(words[2]) for words in notes(hasty, "began"))
    assert after == before + 1, "the run that was killed used up one attempt, and the task ran once more"
    assert [int(words[2]) for words in notes(hasty, "ended")] == [after]
    assert task(hasty, "t")["status"] == "completed"


def test_a_worker_that_stalls_past_its_lease_cannot_finish(hasty: Commands) -> None:
    with hasty.daemon(), hasty.daemon(*HANDLERS, command="worker") as stalled:
        enqueue(hasty, "until_told", "t")
        until(lambda: notes(hasty, "began"))
        stalled.send(signal.SIGSTOP)
        with hasty.daemon(*HANDLERS, command="worker"):
            until(lambda: len(notes(hasty, "began")) == 2)
            Path(hasty.env["GO"]).touch()
            hasty.run("kgsched", "tasks", "wait", "t", "--timeout", "60")
            stalled.send(signal.SIGCONT)
            refused = stalled.wait_for('"task": "t"')
            assert "lease_lost" in refused or "late_finish" in refused  # whichever of beat and body was quicker
            assert stalled.end() == 0
    shown = task(hasty, "t")
    assert shown["status"] == "completed"
    assert shown["result"] == f"attempt {notes(hasty, 'began')[-1][2]}"


def test_two_daemons_fire_each_slot_once(commands: Commands, tmp_path: Path) -> None:
    (tmp_path / "every.yml").write_text(
        "schedules:\n  beat:\n    every: 1s\n    type: ticked\n    overlap: allow\n    catch_up: all\n"
    )
    words = (*HANDLERS, "--schedules", str(tmp_path / "every.yml"))
    with commands.daemon(*words) as one, commands.daemon(*words) as other:
        until(lambda: len(notes(commands, "tick")) >= 6)
        one.kill()
        seen = len(notes(commands, "tick"))
        until(lambda: len(notes(commands, "tick")) >= seen + 4)
        assert other.end() == 0
    ran = [int(words[1]) for words in notes(commands, "tick")]
    assert [slot for slot, n in Counter(ran).items() if n > 1] == []
    query = "MATCH (t:Task {type: 'ticked'}) RETURN t.slot ORDER BY t.slot"
    fired = [row["t.slot"] for row in json.loads(commands.run("graph_query", query, "--json").stdout)["rows"]]
    assert {after - before for before, after in pairwise(fired)} == {1000}, "a slot was left out or fired twice"
    assert set(ran) <= set(fired)


def test_a_daemon_starts_its_database_again(tmp_path: Path) -> None:
    """The managed server is killed under the daemon; what was enqueued before is there, and goes on."""
    files = {"NOTES": str(tmp_path / "notes"), "GO": str(tmp_path / "go"), "HOME": str(tmp_path)}
    own = Commands(
        environment(KGSCHED_HOME=str(tmp_path / "graph"), KGSCHED_POLL="0.1", **_caches(), **files), tmp_path
    )
    (tmp_path / "notes").touch()
    (tmp_path / "none.yml").write_text("schedules: {}\n")
    with own.daemon(*HANDLERS, "--schedules", str(tmp_path / "none.yml")) as daemon:
        enqueue(own, "until_told", "before")
        until(lambda: notes(own, "began"))
        server = _server_of(own)
        server.kill()
        server.wait(20)
        Path(own.env["GO"]).touch()
        enqueue(own, "short", "after")
        own.run("kgsched", "tasks", "wait", "before", "after", "--timeout", "90")
        assert [words[1] for words in notes(own, "ended")] == ["before"]
        again = _server_of(own)
        assert again.pid != server.pid
        assert daemon.end() == 0
    again.wait(20)
    assert not again.is_running(), "the last daemon left and its database still runs"


def _caches() -> dict[str, str]:
    """HOME changes, the downloaded program need not."""
    from kgsched.config import load_settings

    return {"KGSCHED_CACHE": os.environ.get("KGSCHED_CACHE", str(load_settings().cache))}


def _server_of(commands: Commands) -> psutil.Process:
    status = json.loads(commands.run("kgsched", "neo4j", "status", "--json").stdout)
    return psutil.Process(int(status["pid"]))

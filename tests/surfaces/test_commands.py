"""The commands as processes: exit codes, what goes to which stream, and that bad input changes nothing."""

from __future__ import annotations

import asyncio
import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

from kgsched import __version__
from kgsched.core.task import Claim
from kgsched.operations.facade import Operations
from kgsched.operations.new_task import EnqueueRequest
from tests.runtime.waiting import until
from tests.store.worlds import World
from tests.surfaces.commands import Answer, Commands
from tests.surfaces.rules import RULES


async def run(commands: Commands, *words: str, text: str | None = None, **environment: str) -> Answer:
    """The command in a thread, so that the test's own loop goes on."""
    return await asyncio.to_thread(lambda: commands.run(*words, text=text, **environment))


async def test_help_and_version_need_no_database(commands: Commands) -> None:
    bare = {"KGSCHED_NEO4J_URI": "bolt://127.0.0.1:1"}
    answer = await run(commands, "--help", **bare)
    assert answer.code == 0
    assert all(name in answer.out for name in ("daemon", "schedules", "tasks", "graph-query", "doctor"))
    assert "\x1b" not in answer.out
    assert (await run(commands, "--version", **bare)).out == f"kgsched {__version__}\n"
    inner = await run(commands, "tasks", "--help", **bare)
    assert all(name in inner.out for name in ("enqueue", "cancel", "retry", "prioritize", "wait"))


async def test_wrong_usage_ends_with_2_and_suggests(commands: Commands) -> None:
    answer = await run(commands, "taks", "list")
    assert (answer.code, answer.out) == (2, "")
    assert "Did you mean 'tasks'" in answer.err
    inner = await run(commands, "schedules", "lst")
    assert (inner.code, "Did you mean 'list'" in inner.err) == (2, True)


async def test_enqueue_prints_the_id_alone_and_notes_beside_it(commands: Commands, world: World) -> None:
    await world.store.cluster.publish_types({"read": "ingestion"})
    answer = await run(
        commands, "tasks", "enqueue", "read", "-", "--eta", "2030-01-01T00:00", "-p", "high", text='{"n": 1}'
    )
    assert (answer.code, answer.err) == (0, "note: eta '2030-01-01T00:00' has no offset; it was read as UTC\n")
    task = await world.task(answer.out.strip())
    assert (task["payload"], task["prio_bucket"], task["status"]) == ('{"n":1}', 1, "scheduled")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("tasks", "enqueue", "reed"), 2, "did you mean 'read'"),
        (("tasks", "enqueue", "read", "{"), 2, "payload is not JSON"),
        (("tasks", "enqueue", "read", "--after", "nobody"), 1, "'nobody'"),
        (("tasks", "list", "--lane", "reserch"), 2, "did you mean 'research'"),
        (("schedules", "run-now", "nothing"), 2, "no schedule named 'nothing'"),
        (("graph-query", "MATCH (n) DETACH DELETE n"), 1, "refused"),
        (("daemon", "--import", "no_such_module"), 2, "no_such_module"),
    ],
)
async def test_bad_input_is_one_line_on_stderr(
    commands: Commands, world: World, words: tuple[str, ...], code: int, message: str
) -> None:
    await world.store.cluster.publish_types({"read": "ingestion"})
    answer = await run(commands, *words)
    assert (answer.code, answer.out) == (code, "")
    assert answer.err.startswith("error: ")
    assert answer.err.count("\n") == 1
    assert message in answer.err
    assert (await world.cypher("MATCH (n) WHERE n:Task OR n:Schedule RETURN count(n) AS n"))[0]["n"] == 0


async def test_lists_are_json_with_stable_keys_and_tables_are_not_cut(
    commands: Commands, operations: Operations
) -> None:
    source = "https://example.org/" + "x" * 300
    await operations.tasks.enqueue(EnqueueRequest("read", id="i" * 120, source=source))
    found = (await run(commands, "tasks", "list", "--json")).json
    assert (found["tasks"][0]["source"], found["next_cursor"]) == (source, None)
    assert found["tasks"][0]["enqueued_at"].endswith("Z")
    assert "i" * 120 in (await run(commands, "tasks", "list")).out


async def test_bulk_cancel_counts_asks_and_then_changes(
    commands: Commands, operations: Operations, world: World
) -> None:
    await operations.tasks.enqueue_many([EnqueueRequest("read") for _ in range(3)] + [EnqueueRequest("ask")])
    dry = await run(commands, "tasks", "cancel", "--type", "read", "--dry-run", "--json")
    assert (dry.code, dry.json) == (0, {"matched": 3, "by_status": {"pending": 3}, "done": None})
    unsure = await run(commands, "tasks", "cancel", "--type", "read")
    assert (unsure.code, "--yes" in unsure.err) == (2, True)
    assert (await operations.cluster.status())["tasks"]["pending"] == 4
    done = await run(commands, "tasks", "cancel", "--type", "read", "--yes", "--json")
    assert done.json["done"]["answers"] == {"cancelled": 3}
    assert (await operations.cluster.status())["tasks"] | {"pending": 1, "cancelled": 3} == (
        await operations.cluster.status()
    )["tasks"]


async def test_retry_of_what_is_not_dead_ends_with_1(commands: Commands, operations: Operations) -> None:
    await operations.tasks.enqueue(EnqueueRequest("read", id="t"))
    answer = await run(commands, "tasks", "retry", "t")
    assert (answer.code, "it is pending" in answer.err) == (1, True)


async def test_wait_ends_with_the_tasks(commands: Commands, operations: Operations, world: World) -> None:
    await operations.tasks.enqueue(EnqueueRequest("read", id="t"))
    waiting = asyncio.create_task(run(commands, "tasks", "wait", "t", "--json"))
    await world.finish(await world.claim_one(RULES), result='{"n":3}')
    answer = await waiting
    assert (answer.code, answer.json["tasks"][0]["result"]) == (0, {"n": 3})


async def test_run_now_without_a_worker_says_so_and_gives_up_at_its_timeout(commands: Commands, world: World) -> None:
    await run(commands, "schedules", "apply")
    answer = await run(commands, "schedules", "run-now", "archive", "--timeout", "0.2", "--json")
    assert answer.code == 1
    assert "no worker is alive" in answer.err
    assert answer.json["status"] == "pending"
    again = await run(commands, "schedules", "run-now", "archive", "--no-wait")
    assert (again.code, again.out.strip(), "coalesced" in again.err) == (0, answer.json["id"], True)


async def test_run_now_waits_for_the_tick_and_prints_its_result(commands: Commands, world: World) -> None:
    await run(commands, "schedules", "apply")
    waiting = asyncio.create_task(run(commands, "schedules", "run-now", "archive"))
    claims: list[Claim] = await until(lambda: world.claim(1, RULES))
    await world.finish(claims[0], result='{"status": "ok", "queued": [{"id": "a", "score": 1}], "seen_skipped": 3}')
    answer = await waiting
    assert (answer.code, answer.out) == (0, "status: ok\nseen_skipped: 3\nqueued: 1\n  id=a  score=1\n")


async def test_a_list_shows_the_run_that_comes_after_the_wait(commands: Commands, world: World) -> None:
    await run(commands, "schedules", "apply")
    await world.cypher("MATCH (s:Schedule {name: 'archive'}) SET s.backoff_until = s.next_run + 1000")
    answer = await run(commands, "schedules", "list")
    (line,) = [one for one in answer.out.splitlines() if "waits after failures" in one]
    assert line.startswith("archive")


async def test_status_counts_as_ready_only_what_is(commands: Commands, operations: Operations) -> None:
    await operations.tasks.enqueue(EnqueueRequest("read", id="a"))
    await operations.tasks.enqueue(EnqueueRequest("read", after=["a"]))
    await operations.tasks.enqueue(EnqueueRequest("read", delay="1h"))
    answer = await run(commands, "status")
    assert ["ready", "and", "waiting", "1"] in [line.split() for line in answer.out.splitlines()]


async def test_a_timeout_is_a_duration(commands: Commands, operations: Operations) -> None:
    await operations.tasks.enqueue(EnqueueRequest("read", id="t"))
    answer = await run(commands, "tasks", "wait", "t", "--timeout", "200ms")
    assert (answer.code, "not all are over after 0.2 s" in answer.err) == (1, True)
    wrong = await run(commands, "tasks", "wait", "t", "--timeout", "soon")
    assert (wrong.code, "'soon' is not a duration" in wrong.err) == (2, True)


async def test_a_priority_without_its_option_is_told_the_option(commands: Commands) -> None:
    answer = await run(commands, "tasks", "prioritize", "t", "0")
    assert (answer.code, "did you mean --priority 0?" in answer.err) == (2, True)


async def test_an_unknown_type_is_told_the_option_of_the_command_line(commands: Commands) -> None:
    answer = await run(commands, "tasks", "enqueue", "nope")
    assert (answer.code, "--allow-unknown-type" in answer.err, "allow_unknown" in answer.err) == (2, True, False)


@pytest.mark.parametrize("command", ["graph_query", "graph_schedules"])
def test_commands_of_words_have_a_help(commands: Commands, command: str) -> None:
    answer = commands.run_words(command, "--help")
    assert (answer.code, answer.out.startswith(f"usage: {command}")) == (0, True)


def test_settings_are_shown_with_their_units(commands: Commands) -> None:
    shown = {line.split()[0]: line.split()[1] for line in commands.run("config", "show").out.splitlines()}
    assert (shown["keep_finished"], shown["lease"], shown["poll"]) == ("30d", "5m", "250ms")


async def test_words_change_a_schedule(commands: Commands) -> None:
    await run(commands, "schedules", "apply")
    done = await asyncio.to_thread(
        commands.run_words,
        "graph_schedules",
        "action=set_interval",
        "name=research_feed",
        "interval_s=900",
        "json=true",
    )
    assert (done.code, done.json["schedule"]["trigger"]) == (0, "every 15m")
    wrong = await asyncio.to_thread(commands.run_words, "graph_schedules", "action=lst")
    assert (wrong.code, "did you mean 'list'" in wrong.err) == (2, True)


async def test_graph_query_prints_a_table_and_words_do_the_same(commands: Commands, operations: Operations) -> None:
    await operations.tasks.enqueue(EnqueueRequest("read", id="t"))
    text = "MATCH (t:Task) WHERE t.id = $id RETURN t.id, t.prio_bucket, t.status"
    answer = await run(commands, "graph-query", text, "--param", "id=t")
    assert [line.split() for line in answer.out.splitlines()] == [
        ["t.id", "t.prio_bucket", "t.status"],
        ["t", "2", "pending"],
    ]
    words = await asyncio.to_thread(commands.run_words, "graph_query", text, "param.id=t", "json=true")
    assert words.json["rows"] == [{"t.id": "t", "t.prio_bucket": 2, "t.status": "pending"}]
    cut = await run(commands, "graph-query", "UNWIND range(1, 9) AS x RETURN x", "--limit", "2")
    assert (cut.out.split(), "cut after 2 rows" in cut.err) == (["x", "1", "2"], True)


async def test_config_show_names_the_source_of_each_value_and_hides_the_password(commands: Commands) -> None:
    answer = await run(commands, "config", "show", "--json", KG_RESEARCH_FEED_INTERVAL="900")
    rows = {row["setting"]: row for row in answer.json["settings"]}
    assert (rows["research_feed_interval"]["value"], rows["research_feed_interval"]["source"]) == (
        900,
        "KG_RESEARCH_FEED_INTERVAL",
    )
    assert rows["lease"]["source"] == "default"
    assert commands.environment["KGSCHED_NEO4J_PASSWORD"] not in answer.out
    wrong = await run(commands, "config", "show", KGSCHED_SLOTS="many")
    assert (wrong.code, "KGSCHED_SLOTS" in wrong.err) == (2, True)


async def test_a_database_that_is_away_is_one_line_and_1(commands: Commands) -> None:
    answer = await run(commands, "status", KGSCHED_NEO4J_URI="bolt://127.0.0.1:1")
    assert (answer.code, answer.out, answer.err.count("\n")) == (1, "", 1)
    assert "kgsched doctor" in answer.err


async def test_the_doctor_judges_machine_and_graph(commands: Commands) -> None:
    answer = await run(commands, "doctor", "--json")
    found = {one["check"]: one["level"] for one in answer.json["findings"]}
    assert (answer.code, found["python"], found["schema"], found["leader"]) == (1, "ok", "ok", "fail")
    away = await run(commands, "doctor", "--json", KGSCHED_NEO4J_URI="bolt://127.0.0.1:1")
    assert (away.code, away.json["findings"][-1]["level"]) == (1, "fail")


async def test_the_doctor_starts_no_server(commands: Commands, tmp_path: Path) -> None:
    answer = await run(commands, "doctor", KGSCHED_NEO4J_URI="", KGSCHED_HOME=str(tmp_path / "home"))
    assert answer.code == 1
    assert "does not run" in answer.out
    assert not (tmp_path / "home" / "server.json").exists()


async def test_a_reader_that_leaves_is_no_error(commands: Commands, operations: Operations) -> None:
    await operations.tasks.enqueue_many([EnqueueRequest("read", id=f"{n}-{'i' * 100}") for n in range(400)])
    line = commands.line("tasks", "list", "--limit", "400")
    ours, theirs = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *line, stdout=theirs, stderr=subprocess.PIPE, env=commands.environment
    )
    os.close(ours)
    os.close(theirs)
    _, err = await process.communicate()
    assert b"Traceback" not in err
    assert b"Broken" not in err


async def test_ctrl_c_ends_with_130_and_no_traceback(commands: Commands, operations: Operations, world: World) -> None:
    await operations.tasks.enqueue(EnqueueRequest("read", id="t"))
    line = commands.line("tasks", "wait", "t")
    ours, theirs = pty.openpty()  # on a terminal it says what it sees: the signal to send ours
    process = await asyncio.create_subprocess_exec(
        *line, stdout=subprocess.PIPE, stderr=theirs, env=commands.environment
    )
    os.close(theirs)
    seen = await asyncio.to_thread(os.read, ours, 1000)
    process.send_signal(signal.SIGINT)
    await process.communicate()
    assert (process.returncode, b"pending" in seen) == (130, True)
    os.close(ours)


async def test_the_shell_completes_names(commands: Commands, operations: Operations) -> None:
    await operations.tasks.enqueue(EnqueueRequest("read", id="research-1"))
    line = "kgsched tasks show resea"
    bash = {"_KGSCHED_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": "3"}
    zsh = {"_KGSCHED_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": line}
    assert (await run(commands, **bash)).out.split() == ["research-1"]
    assert "research-1" in (await run(commands, **zsh)).out
    away = await run(commands, KGSCHED_NEO4J_URI="bolt://127.0.0.1:1", **bash)
    assert (away.out.strip(), away.err) == ("", "")

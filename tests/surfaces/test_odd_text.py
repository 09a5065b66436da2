"""Names in any script, names that want to be commands, on terminals and pipes of any kind."""

from __future__ import annotations

import json
import subprocess

import pytest

from kgsched.operations.facade import Operations
from kgsched.operations.new_task import EnqueueRequest
from tests.store.worlds import World
from tests.surfaces.commands import Commands

ODD = "Grüße 任务 🧪 \u202e\x1b[31mred\x07\nnext"
WANTS_TO_BE_CYPHER = "x`) DETACH DELETE n //' OR 1=1; MATCH (n) SET n:Admin"


@pytest.fixture
async def odd(operations: Operations) -> None:
    await operations.tasks.enqueue(EnqueueRequest("read", id=ODD, source=ODD))


@pytest.mark.parametrize(
    "locale",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=str,
)
def test_any_name_is_listed_in_any_locale(odd: None, commands: Commands, locale: dict[str, str]) -> None:
    """AP08."""
    listed = commands.run("tasks", "list", **locale)
    assert (listed.code, "Traceback" in listed.err) == (0, False), listed.err
    assert not {"\x1b", "\x07", "\u202e"} & set(listed.out)
    as_json = commands.run("tasks", "list", "--json", **locale)
    assert json.loads(as_json.out)["tasks"][0]["id"] == ODD


def test_a_reader_that_leaves_early_gets_no_traceback(odd: None, commands: Commands, world: World) -> None:
    """AP08."""
    line = " ".join(commands.line("tasks", "list"))
    for rest in ("| head -1", "| true", "> /dev/full", ">&-", ">&- 2>&-"):
        done = subprocess.run(
            f"{line} {rest}", shell=True, env=commands.environment, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in done.stderr, done.stderr


async def test_text_that_wants_to_be_cypher_stays_text(
    operations: Operations, commands: Commands, world: World
) -> None:
    """AP07."""
    await operations.tasks.enqueue(EnqueueRequest("read", id=WANTS_TO_BE_CYPHER, source=WANTS_TO_BE_CYPHER))

    async def labels() -> list[dict[str, object]]:
        return await world.cypher(
            "MATCH (n) WHERE NOT n:Audit UNWIND labels(n) AS l RETURN l, count(*) AS n ORDER BY l"
        )

    before = await labels()
    text = WANTS_TO_BE_CYPHER
    for words, code in [
        (("tasks", "show", "--", text), 0),
        (("tasks", "list", "--source", text), 0),
        (("tasks", "list", "--type", text), 2),
        (("tasks", "list", "--lane", text), 2),
        (("schedules", "show", "--", text), 2),
        (("jobs", "run", "--", text), 2),
        (("graph-query", "RETURN $p", "--param", f"p={text}"), 0),
        (("graph-query", "--", text), 1),
    ]:
        done = commands.run(*words)
        assert done.code == code, (words, done.err)
    assert await labels() == before

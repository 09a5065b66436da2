"""How one meeting is set up and run."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neo4j.exceptions import Neo4jError

from kgsched.store.driver_errors import quick
from kgsched.store.queries import Statement, statement
from tests.store.worlds import World

DEADLINE = 30.0
_LOCK = re.compile(r"^\s*SET \w\.lock_v = 0$\n?", re.MULTILINE)
BLOCKED = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' OR status = 'Closing' RETURN count(*) AS n"

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """What the statement returned, and the tasks afterwards by uid."""

    rows: list[dict[str, Any]]
    tasks: dict[str, dict[str, Any]]
    waited: bool

    @property
    def row(self) -> dict[str, Any]:
        return self.rows[0]

    @property
    def one(self) -> dict[str, Any]:
        """The task that most races are about."""
        return self.tasks["1"]

    @property
    def answer(self) -> str:
        """The first answer of a statement that answers per uid."""
        return str(self.row["answers"][0][1])


@dataclass(frozen=True, slots=True)
class Race:
    """One meeting. `breaks`: without the locks of the statement the check is known to fail, as it must."""

    name: str
    statement: str
    params: Row
    change: str
    holds: Callable[[Seen], bool]
    tasks: Sequence[Row] = ()
    edges: Sequence[tuple[str, str, str]] = ()
    more: str = ""
    breaks: bool = False

    def __str__(self) -> str:
        return f"{self.statement.split('/')[1]}, {self.name}"


def without_locks(text: str) -> str:
    """A statement's text with the lines taken out that lock before they look."""
    bare = _LOCK.sub("", text)
    assert bare != text, "the statement takes no lock"
    return bare


async def meet(world: World, race: Race, *, locked: bool = True, prefix: str = "") -> Seen:
    """Let the statement arrive while the change is open, commit the change, and look."""
    await _build(world, race)
    text = statement(race.statement).text
    if not locked:
        text = without_locks(text)
    async with world.store.graph.transaction() as tx:
        await tx.run(race.change)
        running = asyncio.create_task(_send(world, prefix + text, race.params))
        waited = await _until_blocked(world, running)
    rows = await running
    tasks = await world.cypher("MATCH (t:Task) RETURN t.uid AS uid, t {.*} AS t")
    return Seen(rows, {row["uid"]: row["t"] for row in tasks}, waited)


async def _build(world: World, race: Race) -> None:
    await world.cypher("UNWIND $tasks AS t CREATE (n:Task) SET n = t", tasks=[dict(task) for task in race.tasks])
    for child, parent, rule in race.edges:
        await world.cypher(
            """MATCH (c:Task {uid: $c}) MATCH (p:Task {uid: $p})
               CREATE (c)-[:DEPENDS_ON {on_failure: $rule, met: false}]->(p)""",
            c=child,
            p=parent,
            rule=rule,
        )
    if race.more:
        await world.cypher(race.more)


async def _send(world: World, text: str, params: Row) -> list[dict[str, Any]]:
    """As the client does: what the server takes back for another transaction's sake is sent again."""
    while True:
        try:
            async with world.store.client.raw_session(read=False) as session:
                result = await session.run(text, Statement.arguments(params))
                rows: list[dict[str, Any]] = await result.data()
                return rows
        except Neo4jError as error:
            if not quick(error):
                raise


async def _until_blocked(world: World, running: asyncio.Task[list[dict[str, Any]]]) -> bool:
    """Wait until the statement waits for a lock; False when it came to its end without."""
    async with asyncio.timeout(DEADLINE):
        while not running.done():
            if (await world.store.graph.query(BLOCKED))[0]["n"]:
                return True
            await asyncio.wait({running}, timeout=0.01)
    return False

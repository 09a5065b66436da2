"""Diamonds A <- B, C <- D with mixed rules, bad ends, cancels by a person and retries, against a model."""

from __future__ import annotations

import asyncio
import random
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kgsched.core.claiming import TypeRule
from kgsched.core.task import Ack, AckOutcome, NewTask, OnFailure
from tests.store.crowd.actor import Actor, Address, Role
from tests.store.crowd.crowd import Crowd
from tests.store.worlds import World, new_task
from tests.store.worlds.making import LANE

BAD = frozenset({"failed", "dead_letter", "cancelled"})
_RULES = {"a": TypeRule(LANE, lease_ms=600_000)}
_DRAW = [AckOutcome.COMPLETED] * 7 + [AckOutcome.FAILED] * 2 + [AckOutcome.DEAD_LETTER]
_turn = iter(range(10**9))
_UNDER_WAY = """MATCH (t:Task) WHERE t.status IN ['pending', 'running', 'scheduled'] OR t.cascade_pending IS NOT NULL
  OR t.release_pending IS NOT NULL OR t.revive_pending IS NOT NULL RETURN count(*) AS n"""
_UNCAUSED = """MATCH (t:Task) WHERE t.cancelled_because IS NOT NULL AND NOT EXISTS {
  MATCH (t)-[:DEPENDS_ON {met: false, on_failure: 'cancel'}]->(p)
  WHERE coalesce(p.cancelled_because, p.uid) = t.cancelled_because } RETURN count(*) AS n"""


def outcome_of(uid: str, claims: int) -> AckOutcome:
    """How this run of this task ends: the same in the processes and in the model."""
    return _DRAW[zlib.crc32(f"{uid}{claims}".encode()) % len(_DRAW)]


async def finisher(actor: Actor) -> None:
    token = f"{actor.session}-{next(_turn)}"
    tasks = actor.store.tasks
    claims = await tasks.claim(_RULES, 20, token=token, worker=actor.name, session=actor.session)
    acks = [Ack(one.uid, one.token, outcome_of(one.uid, one.claims)) for one in claims]
    if not acks:
        await actor.pause(0.02)
        return
    for uid, answer in (await tasks.finish(acks)).answers.items():
        if answer.verdict != "won":
            actor.log("lost", uid, answer.verdict)


async def healer(actor: Actor) -> None:
    sweeps = actor.store.sweeps
    passes = [await sweeps.cascade_step(), await sweeps.release_step(), await sweeps.revive_step()]
    if not any(one.more for one in passes):
        await actor.pause(0.02)


ROLES: tuple[Role, ...] = (finisher, finisher, finisher, healer)


@dataclass(slots=True)
class _Node:
    edges: dict[str, OnFailure]
    status: str = "blocked"
    because: str | None = None
    runs: int = 0
    met: set[str] = field(default_factory=set)


class Model:
    """What the graph must look like when all is quiet. Uid order is parents before children."""

    def __init__(self) -> None:
        self.nodes: dict[str, _Node] = {}

    def add(self, task: NewTask) -> None:
        self.nodes[task.uid] = _Node({edge.uid: edge.on_failure for edge in task.after})

    def settle(self) -> None:
        for uid in sorted(self.nodes):
            node = self.nodes[uid]
            if node.status == "blocked":
                self._settle_one(uid, node)

    def _settle_one(self, uid: str, node: _Node) -> None:
        for parent, rule in node.edges.items():
            status = self.nodes[parent].status
            if status == "completed" or (rule is OnFailure.IGNORE and status in BAD):
                node.met.add(parent)
        if self.dead_parent(node):
            node.status, node.because = "cancelled", "a parent"
        elif len(node.met) == len(node.edges):
            node.runs += 1
            node.status = outcome_of(uid, node.runs).value

    def dead_parent(self, node: _Node) -> bool:
        return any(
            rule is OnFailure.CANCEL and parent not in node.met and self.nodes[parent].status in BAD
            for parent, rule in node.edges.items()
        )

    def retry(self, uid: str) -> None:
        """This task, and what was cancelled because of it."""
        for one in (uid, *(other for other, node in self.nodes.items() if node.because == uid)):
            self.nodes[one].status, self.nodes[one].because = "blocked", None


@dataclass(slots=True)
class Outcome:
    tasks: int
    statuses: dict[str, int]
    retries: dict[str, int]
    quick_retries: dict[str, int]
    wrong: dict[str, object]

    def __str__(self) -> str:
        return (
            f"{self.tasks} tasks, {self.statuses}, retries {self.retries}; "
            f"quick retries {self.quick_retries or 'none'}; wrong: {self.wrong or 'nothing'}"
        )


async def play(world: World, address: Address, folder: Path, *, diamonds: int, rounds: int) -> Outcome:
    """Enqueue while processes run them, then retry in rounds; compare with the model after each."""
    model, answers = Model(), Counter[str]()
    wrong: dict[str, object] = {}
    with Crowd(address, folder, ROLES) as crowd:
        for start in range(0, diamonds, 50):
            asked = await _enqueue(world, model, min(50, diamonds - start))
            for uid in asked:
                model.nodes[uid].because = "asked"
        await _quiet(world)
        await _adopt_races(world, model)
        wrong |= await _compare(world, model, "first")
        for number in range(rounds):
            answers += await _retry_round(world, model)
            await _quiet(world)
            wrong |= await _compare(world, model, f"round {number}")
        await asyncio.to_thread(crowd.stop)
    wrong |= {"acks lost": list(crowd.lines("lost"))[:3], "errors": crowd.errors[:3]}
    wrong["healed"] = (await world.store.sweeps.blocked_sweep()).count
    wrong = {name: value for name, value in wrong.items() if value}
    statuses = Counter(node.status for node in model.nodes.values())
    return Outcome(len(model.nodes), dict(statuses), dict(answers), dict(crowd.quick_retries), wrong)


def _diamond() -> tuple[NewTask, ...]:
    def rule() -> OnFailure:
        return random.choice(list(OnFailure))

    top = new_task()
    left, right = new_task(after=[(top, rule())]), new_task(after=[(top, rule())])
    return top, left, right, new_task(after=[(left, rule()), (right, rule())])


async def _enqueue(world: World, model: Model, count: int) -> list[str]:
    """Some of a diamond in one batch, the rest in the next; a person cancels a few ends: those that ran come back."""
    early: list[NewTask] = []
    late: list[NewTask] = []
    ends: list[str] = []
    for _ in range(count):
        diamond = _diamond()
        for task in diamond:
            model.add(task)
        cut = random.randrange(5)
        early += diamond[:cut]
        late += diamond[cut:]
        if random.random() < 0.05:
            ends.append(diamond[3].uid)
    for batch in (early, late):
        if batch:
            await world.enqueue(*batch)
    asked = []
    for uid, (answer, _) in (await world.store.tasks.cancel(ends)).items():
        if answer == "requested":
            asked.append(uid)
        elif answer == "cancelled" and "cancelled_because" not in await world.task(uid):
            model.nodes[uid].status = "cancelled"
    return asked


async def _adopt_races(world: World, model: Model) -> None:
    """What ran when a person cancelled it: the race decided how it ended."""
    for uid, node in model.nodes.items():
        if node.because == "asked":
            node.status, node.because, node.runs = (await world.task(uid))["status"], None, 1
            node.met = set(node.edges)


async def _quiet(world: World) -> None:
    async with asyncio.timeout(120):
        while (await world.cypher(_UNDER_WAY))[0]["n"]:  # noqa: ASYNC110 - other processes do it
            await asyncio.sleep(0.05)


async def _compare(world: World, model: Model, when: str) -> dict[str, object]:
    """Where graph and model differ; the model takes over who was cancelled because of whom."""
    model.settle()
    rows = await world.cypher(
        "MATCH (t:Task) RETURN t.uid AS uid, t.status AS status, t.claims AS claims, t.cancelled_because AS because"
    )
    differ = [row for row in rows if (row["status"], row["claims"]) != _expected(model, row["uid"])]
    for row in rows:
        model.nodes[row["uid"]].because = row["because"]
    return {
        f"{when}: differ from the model": differ[:3],
        f"{when}: not all are there": len(rows) != len(model.nodes),
        f"{when}: a cause without a chain": (await world.cypher(_UNCAUSED))[0]["n"],
        f"{when}: invariants": await world.broken(),
    }


def _expected(model: Model, uid: str) -> tuple[str, int]:
    return model.nodes[uid].status, model.nodes[uid].runs


async def _retry_round(world: World, model: Model) -> Counter[str]:
    """Retry one dead task of most diamonds; each answer must be the model's."""
    answers: Counter[str] = Counter()
    chosen = list(_chosen(model))
    for start in range(0, len(chosen), 8):
        some = chosen[start : start + 8]
        expected = ["parent_dead" if model.dead_parent(model.nodes[uid]) else "retried" for uid in some]
        got = await asyncio.gather(*(_retry(world, uid) for uid in some))
        assert got == expected, (some, got, expected)
        answers.update(got)
        for uid, answer in zip(some, got, strict=True):
            if answer == "retried":
                model.retry(uid)
    return answers


async def _retry(world: World, uid: str) -> str:
    """The answer once its cascade is over."""
    while True:
        row = await world.store.tasks.retry(uid, "me", n=1)
        assert row is not None
        if row["answer"] != "cascading":
            return str(row["answer"])
        await asyncio.sleep(0.02)


def _chosen(model: Model) -> Iterator[str]:
    uids = sorted(model.nodes)
    for start in range(0, len(uids), 4):
        dead = [uid for uid in uids[start : start + 4] if model.nodes[uid].status in BAD and random.random() < 0.7]
        if dead:
            yield random.choice((dead[0], dead[-1]))

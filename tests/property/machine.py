"""Several actors do at random what workers, sweeps and people do; after each step graph and model must agree."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kgsched.core.claiming import TypeRule
from kgsched.core.task import Ack, AckOutcome, Answer, Claim, ErrorInfo
from tests.property.model import Edge, Model, Task
from tests.store.worlds import World, new_task
from tests.store.worlds.making import LANE

T = TypeVar("T")
RULES = {"a": TypeRule(LANE)}
FAR = 4_000_000_000_000
ERROR = ErrorInfo("TestError", "it went wrong")
ACTORS = ("one", "two", "three")
ENDS = st.sampled_from(("completed", "completed", "failed", "dead_letter", "cancelled"))
BACK = st.sampled_from(("retry", "snooze", "release"))
PLACE = st.integers(0, 999)
EDGES = st.lists(st.tuples(PLACE, st.sampled_from(("cancel", "ignore", "hold"))), max_size=2)
_STATE = """MATCH (t:Task) RETURN t.uid AS uid, t.status AS status, t.attempts AS attempts, t.claims AS claims,
  t.claim_token AS token, t.cancelled_because AS because, t.max_attempts AS most"""


@dataclass(slots=True)
class Actor:
    """A worker: it remembers every claim that it was ever given, also those that it has lost."""

    name: str
    claims: list[Claim] = field(default_factory=list)
    said: list[Ack] = field(default_factory=list)


class QueueMachine(RuleBasedStateMachine):
    """The rules. `world` and `loop` are put in by the test, for a machine is made without arguments."""

    world: World
    loop: asyncio.AbstractEventLoop

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.actors = {name: Actor(name) for name in ACTORS}
        self.turns = 0

    def do(self, work: Awaitable[T]) -> T:
        return self.loop.run_until_complete(_awaited(work))

    @initialize()
    def empty(self) -> None:
        self.do(self.world.wipe())

    @rule(
        bucket=st.integers(0, 3),
        weight=st.integers(-2, 2),
        most=st.integers(1, 3),
        key=st.sampled_from((None, None, "k", "l")),
        far=st.booleans(),
        edges=EDGES,
    )
    def enqueue(
        self, bucket: int, weight: int, most: int, key: str | None, far: bool, edges: list[tuple[int, str]]
    ) -> None:
        rules = {self._uid(place): rule for place, rule in edges} if self.model.tasks else {}
        row = new_task(
            after=list(rules.items()),
            prio_bucket=bucket,
            weight=weight,
            max_attempts=most,
            key=key,
            eta=FAR if far else None,
        )
        holder = self.model.holder(key)
        (done,) = self.do(self.world.enqueue(row))
        if holder is not None:
            assert (done.answer, done.uid) == (Answer.EXISTING, holder.uid)
            return
        assert done.answer is Answer.CREATED
        rank = self.do(self.world.task(row))["rank"]
        waits = [Edge(uid, rule) for uid, rule in rules.items()]
        self.model.enqueue(Task(row.uid, bucket, rank, most, key, far, waits))

    @rule(actor=st.sampled_from(ACTORS), n=st.integers(1, 3))
    def claim(self, actor: str, n: int) -> None:
        self.turns += 1
        token = f"{actor}-{self.turns}"
        expected = [(one.bucket, one.rank) for one in self.model.claimable(n)]
        claims = self.do(self.world.store.tasks.claim(RULES, n, token=token, worker=actor, session=actor))
        assert [(one.prio_bucket, one.rank) for one in claims] == expected
        for one in claims:
            self.model.claim(one.uid, token)
            assert (one.attempt, one.claims) == (
                self.model.tasks[one.uid].attempts,
                self.model.tasks[one.uid].claims,
            )
            self.actors[actor].claims.append(one)

    @precondition(lambda self: any(actor.claims for actor in self.actors.values()))
    @rule(actor=st.sampled_from(ACTORS))
    def beat(self, actor: str) -> None:
        newest = {one.uid: one for one in self.actors[actor].claims}
        report = self.do(
            self.world.store.tasks.beat(
                list(newest.values()), session=actor, lanes=[LANE], known=list(newest), stranger_age_ms=10**9
            )
        )
        kept = {uid for uid, one in newest.items() if self.model.keeps(uid, one.token)}
        assert report.lost == set(newest) - kept
        assert report.cancel_requested == {uid for uid in kept if self.model.tasks[uid].cancel_asked}

    @precondition(lambda self: any(actor.claims for actor in self.actors.values()))
    @rule(actor=st.sampled_from(ACTORS), place=PLACE, outcome=ENDS)
    def finish(self, actor: str, place: int, outcome: str) -> None:
        if claim := self._claim(actor, place):
            error = None if outcome == "completed" else ERROR
            self._say(
                self.actors[actor], Ack(claim.uid, claim.token, AckOutcome(outcome), "{}", error, claims=claim.claims)
            )

    @precondition(lambda self: any(actor.claims for actor in self.actors.values()))
    @rule(actor=st.sampled_from(ACTORS), place=PLACE, outcome=BACK, delayed=st.booleans())
    def give_back(self, actor: str, place: int, outcome: str, delayed: bool) -> None:
        claim = self._claim(actor, place)
        if claim is None:
            return
        if outcome == "retry" and claim.attempt >= claim.max_attempts:
            outcome = "dead_letter"
        delay = 10**9 if delayed else 0
        self._say(
            self.actors[actor],
            Ack(claim.uid, claim.token, AckOutcome(outcome), None, ERROR, delay, claims=claim.claims),
        )

    @precondition(lambda self: any(actor.said for actor in self.actors.values()))
    @rule(actor=st.sampled_from(ACTORS), place=PLACE)
    def say_again(self, actor: str, place: int) -> None:
        """As after a lost answer, however long after."""
        said = self.actors[actor].said
        if said:
            self._say(None, said[place % len(said)])

    @rule(place=PLACE, both=st.booleans())
    def lose(self, place: int, both: bool) -> None:
        """Time passes for some of what runs: leases and grace are over, and the reaper comes."""
        running = [uid for uid, one in self.model.tasks.items() if one.status == "running"]
        if not running:
            return
        chosen = running[place % len(running) :] if both else [running[place % len(running)]]
        self.do(self.world.expire_leases(*chosen))
        reaped = dict(self.do(self.world.reap()))
        assert reaped == {uid: self.model.reap(uid) for uid in chosen}

    @rule()
    def promote(self) -> None:
        self.do(self.world.make_due())
        self.do(self.world.store.sweeps.promotion_sweep())
        self.model.promote()

    @precondition(lambda self: self.model.tasks)
    @rule(place=PLACE)
    def cancel(self, place: int) -> None:
        uid = self._uid(place)
        answers = self.do(self.world.store.tasks.cancel([uid]))
        assert answers[uid][0] == self.model.cancel(uid)

    @precondition(lambda self: self.model.tasks)
    @rule(place=PLACE)
    def retry(self, place: int) -> None:
        dead = [uid for uid, one in self.model.tasks.items() if one.status in ("failed", "dead_letter", "cancelled")]
        uid = dead[place % len(dead)] if dead else self._uid(place)
        answer = self.do(self.world.store.tasks.retry(uid, "a person"))
        assert answer is not None
        assert answer["answer"] == self.model.retry(uid)

    @invariant()
    def graph_and_model_agree(self) -> None:
        self.do(self.world.sweep())
        rows = self.do(self.world.cypher(_STATE))
        assert len(rows) == len(self.model.tasks), "a task is lost or came of itself"
        for row in rows:
            one = self.model.tasks[row["uid"]]
            found = (row["status"], row["attempts"], row["claims"], row["token"], row["because"])
            assert found == (one.status, one.attempts, one.claims, one.token, one.because), one
            assert 0 <= row["attempts"] <= row["most"]

    def teardown(self) -> None:
        """All that is not over comes to an end, but for what waits for a dead task with the rule hold."""
        self.do(self.world.expire_leases())
        self.do(self.world.reap())
        for _ in range(1000):
            self.do(self.world.sweep())
            self.do(self.world.make_due())
            self.do(self.world.store.sweeps.promotion_sweep())
            claims = self.do(self.world.claim(50, RULES))
            if not claims:
                break
            for claim in claims:
                self.do(self.world.finish(claim))
        left = self.do(self.world.cypher(_LEFT))
        assert left == [], "tasks that nobody will ever end"
        assert self.do(self.world.broken()) == []

    def _say(self, actor: Actor | None, ack: Ack) -> None:
        """Send an acknowledgement; the verdict is the model's."""
        if ack.outcome.ends:
            expected = self.model.finish(ack.uid, ack.token, ack.outcome.value)
            report = self.do(self.world.store.tasks.finish([ack]))
        else:
            delayed = ack.delay_ms > 0
            expected = self.model.reschedule(ack.uid, ack.token, ack.outcome.value, delayed=delayed)
            report = self.do(self.world.store.tasks.reschedule([ack]))
        assert report.answers[ack.uid].verdict == expected
        if actor is not None:
            actor.said.append(ack)

    def _claim(self, actor: str, place: int) -> Claim | None:
        claims = self.actors[actor].claims
        return claims[-1 - place % len(claims)] if claims else None

    def _uid(self, place: int) -> str:
        uids = list(self.model.tasks)
        return uids[place % len(uids)]


_LEFT = """MATCH (t:Task) WHERE t.finished_at IS NULL
  AND NOT EXISTS {
    MATCH (t)-[:DEPENDS_ON*1..50 {met: false}]->(p:Task) WHERE p.failed_at IS NOT NULL OR p.status = 'cancelled'
  }
  RETURN t.uid AS uid, t.status AS status"""


async def _awaited(work: Awaitable[T]) -> T:
    return await work

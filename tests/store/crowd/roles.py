"""Roles of the soak: everything that touches tasks, at once and at random."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field

from kgsched.core.claiming import TypeRule
from kgsched.core.task import Ack, AckOutcome, Claim, ErrorInfo, NewTask, OnFailure
from kgsched.errors import NotFound
from tests.store.crowd.actor import Actor
from tests.store.worlds.making import LANE, new_task

LEASE_MS, GRACE_MS = 1500, 300
TYPES = tuple(f"t{number}" for number in range(6))
RULES = {name: TypeRule(LANE, lease_ms=LEASE_MS, grace_ms=GRACE_MS) for name in TYPES}
GATED, GATE, GATE_LIMIT = "t5", "g", 3
ERROR = ErrorInfo("E", "m", "t")
_ENDS = ((0.62, AckOutcome.COMPLETED), (0.72, AckOutcome.FAILED), (0.80, AckOutcome.DEAD_LETTER))
_GIVEN_BACK = (AckOutcome.RETRY, AckOutcome.SNOOZE, AckOutcome.RELEASE)


@dataclass(slots=True)
class _Memory:
    """What a process remembers between two turns of its role."""

    known: list[str] = field(default_factory=list)
    mine: dict[str, Claim] = field(default_factory=dict)
    turns: int = 0


_memory = _Memory()


async def enqueuer(actor: Actor) -> None:
    """Batches with and without edges, with keys, or in a transaction of the user's."""
    known = _memory.known
    rows: list[NewTask] = []
    for _ in range(random.choice((1, 5, 40))):
        pool = known[-300:] + [row.uid for row in rows]
        chosen = set(random.sample(pool, min(len(pool), random.choice((0, 0, 1, 2, 4)))))
        rows.append(_random_task(chosen))
    kind = random.random()
    try:
        if kind < 0.15:
            async with actor.store.graph.transaction() as tx:
                await actor.store.tasks.enqueue(rows, tx=tx)
                await actor.pause(random.random() * 0.05)
            await actor.store.sweeps.settle()
        elif kind < 0.30:
            keyed = [new_task(row.type, key=f"{row.type}-{random.randrange(60)}") for row in rows]
            rows = [
                row
                for row, done in zip(keyed, await actor.store.tasks.enqueue(keyed), strict=True)
                if row.uid == done.uid
            ]
        else:
            await actor.store.tasks.enqueue(rows)
    except NotFound:  # purged meanwhile
        actor.log("missing")
        known.clear()
        return
    known += [row.uid for row in rows]
    del known[:-1000]
    actor.log("enqueued", *(row.uid for row in rows))


def _random_task(parents: set[str]) -> NewTask:
    name = random.choice(TYPES)
    return new_task(
        name,
        after=[
            (uid, random.choice((OnFailure.CANCEL, OnFailure.CANCEL, OnFailure.IGNORE, OnFailure.HOLD)))
            for uid in parents
        ],
        prio_bucket=random.randrange(4),
        weight=random.randrange(-5, 6),
        gate=GATE if name == GATED else None,
        eta=int(time.time() * 1000) + 400 if random.random() < 0.1 else None,
    )


async def worker(actor: Actor) -> None:
    """Acknowledge, claim, beat; now and then stall past the lease."""
    tasks, mine = actor.store.tasks, _memory.mine
    ends, back = _decide(mine)
    for acks, send in ((ends, tasks.finish), (back, tasks.reschedule)):
        if acks:
            for uid, answer in (await send(acks)).answers.items():
                claim = mine.pop(uid)
                actor.log("acked", uid, claim.claims, answer.verdict, answer.status)
    token = f"{actor.session}-{_memory.turns}"
    _memory.turns += 1
    for claim in await tasks.claim(
        RULES, random.choice((1, 10, 50)), token=token, worker=actor.name, session=actor.session
    ):
        actor.log("executed", claim.uid, claim.claims)
        mine[claim.uid] = claim
    if mine and random.random() < 0.5:
        report = await tasks.beat(
            list(mine.values()), session=actor.session, lanes=[LANE], known=list(mine), stranger_age_ms=1000
        )
        for uid in report.lost:
            actor.log("lost", uid, mine[uid].claims)
        for uid, _ in report.strangers:
            actor.log("stranger", uid)
    stalled = random.random() < 0.01
    await actor.pause((LEASE_MS + GRACE_MS) / 1000 + 0.3 if stalled else random.random() * 0.02)


def _decide(mine: dict[str, Claim]) -> tuple[list[Ack], list[Ack]]:
    """Ends for four of five claims, most of the others are given back, a few keep running."""
    ends, back = [], []
    for uid, claim in mine.items():
        draw = random.random()
        if outcome := next((one for bound, one in _ENDS if draw < bound), None):
            error = None if outcome is AckOutcome.COMPLETED else ERROR
            ends.append(Ack(uid, claim.token, outcome, "{}", error))
        elif draw < 0.95:
            outcome = random.choice(_GIVEN_BACK)
            if outcome is AckOutcome.RETRY and claim.attempt >= claim.max_attempts:
                ends.append(Ack(uid, claim.token, AckOutcome.DEAD_LETTER, "{}", ERROR))
            else:
                back.append(Ack(uid, claim.token, outcome, error=ERROR, delay_ms=random.choice((0, 200))))
    return ends, back


async def keeper(actor: Actor) -> None:
    """All that heals the queue, and the purge."""
    sweeps = actor.store.sweeps
    await sweeps.promotion_sweep(200)
    _, reaped = await sweeps.reaper(GRACE_MS, 200)
    if reaped:
        actor.log("reaped", len(reaped))
    for step in (sweeps.cascade_step, sweeps.release_step, sweeps.settle, sweeps.revive_step):
        await step()
    if random.random() < 0.2:
        await sweeps.admission()
        healed = (await sweeps.blocked_sweep()).count + (await sweeps.heal_ready(list(TYPES))).count
        if healed:
            actor.log("healed", healed)
        actor.log("purged", (await sweeps.purge(int(time.time() * 1000) - 3000, 100)).count)
    await actor.pause(0.02)


async def person(actor: Actor) -> None:
    """Cancels, moves and retries at random."""
    tasks, graph = actor.store.tasks, actor.store.graph
    rows = await graph.query(
        "MATCH (t:Task) WHERE t.uid > '' RETURN t.uid AS uid ORDER BY t.uid DESC SKIP $skip LIMIT 5",
        skip=random.randrange(500),
    )
    uids = [row["uid"] for row in rows]
    if uids:
        await tasks.cancel(uids[:2])
        await tasks.prioritize(uids, random.randrange(4), 3)
    for row in await graph.query(
        "MATCH (t:Task) WHERE t.failed_at IS NOT NULL RETURN t.uid AS uid SKIP $skip LIMIT 3",
        skip=random.randrange(200),
    ):
        if answer := await tasks.retry(row["uid"], "person", n=2):
            actor.log("retry", answer["answer"])
    await actor.pause(0.03)

"""Many schedules, tickers that are killed, and a person who moves clocks, disables and runs by hand."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from kgsched.core.claiming import TypeRule
from kgsched.core.task import Ack, AckOutcome
from tests.store.crowd.actor import Actor, Address, Role
from tests.store.crowd.crowd import Crowd
from tests.store.worlds import World
from tests.store.worlds.making import LANE

_RULES = {"tick": TypeRule(LANE, lease_ms=600_000)}
_turn = iter(range(10**9))
TICKERS = 3
_TWO_RUN = """MATCH (t:Task {status: 'running'}) WHERE t.gate IS NOT NULL
  WITH t.schedule AS name, count(*) AS n WHERE n > 1 RETURN count(*) AS n"""


def catches_up(number: int) -> bool:
    """Every fourth schedule fires all slots, side by side; nobody touches it."""
    return number % 4 == 3


async def ticker(actor: Actor) -> None:
    swept = await actor.store.schedules.fire_due(10)
    if not swept.count:
        await actor.pause(0.02)


async def tick_worker(actor: Actor) -> None:
    """Runs ticks; those of even schedules are gone at once, so that only last_slot protects their slots."""
    tasks = actor.store.tasks
    token = f"{actor.session}-{next(_turn)}"
    claims = await tasks.claim(_RULES, 50, token=token, worker=actor.name, session=actor.session)
    for claim in claims:
        actor.log("ran", claim.schedule, claim.slot if claim.slot is not None else claim.id)
    if not claims:
        await actor.store.sweeps.admission()
        await actor.pause(0.02)
        return
    await tasks.finish([Ack(one.uid, one.token, AckOutcome.COMPLETED) for one in claims])
    gone = [one.uid for one in claims if int((one.schedule or "s1")[1:]) % 2 == 0]
    async with actor.store.graph.transaction() as tx:
        await tx.run("UNWIND $uids AS uid MATCH (t:Task {uid: uid}) DETACH DELETE t", uids=gone)


async def meddler(actor: Actor) -> None:
    """Clocks set back, schedules disabled, enabled too early, run by hand, ticks collapsed."""
    (row,) = random.sample(await actor.store.schedules.read("default"), 1)
    properties, now = row["schedule"], row["now"]
    name, every = properties["name"], properties["every_ms"]
    if catches_up(int(name[1:])):
        return
    draw = random.random()
    back = {"next_run": (now // every - 4) * every}
    if draw < 0.4 and properties["enabled"]:
        await _change(actor, properties, back)
    elif draw < 0.6:
        await _change(actor, properties, {"enabled": False, "next_run": None})
    elif draw < 0.9:
        await _change(actor, properties, {"enabled": True, **back})
    else:
        answer = await actor.store.schedules.run_now("default", name, None, 0)
        actor.log("by_hand", answer["answer"] if answer else None)
        await actor.store.sweeps.collapse_stale_ticks()
    await actor.pause(0.02)


async def _change(actor: Actor, properties: dict[str, object], fields: dict[str, object]) -> None:
    version = int(str(properties["version"]))
    done = await actor.store.schedules.change("default", str(properties["name"]), version, fields, "meddler", "soak")
    actor.log("changed" if done else "late", properties["name"])


ROLES: tuple[Role, ...] = (*[ticker] * TICKERS, tick_worker, meddler)


@dataclass(slots=True)
class Outcome:
    seconds: float
    kills: int
    slots: int
    figures: dict[str, int]
    quick_retries: dict[str, int]
    wrong: dict[str, object]

    def __str__(self) -> str:
        return (
            f"{self.seconds:.0f} s, {self.kills} kills, {self.slots} slots ran, {self.figures}; "
            f"quick retries {self.quick_retries or 'none'}; wrong: {self.wrong or 'nothing'}"
        )


async def fire_soak(world: World, address: Address, folder: Path, *, schedules: int, seconds: float) -> Outcome:
    await _make(world, schedules)
    overlapping = 0
    with Crowd(address, folder, ROLES) as crowd:
        begun, next_kill = time.monotonic(), 0.7
        while (passed := time.monotonic() - begun) < seconds:
            await asyncio.sleep(0.1)
            overlapping += (await world.cypher(_TWO_RUN))[0]["n"]
            if passed > next_kill:
                next_kill += 0.7
                await asyncio.to_thread(crowd.replace, random.randrange(TICKERS))
        await asyncio.to_thread(crowd.stop)
    ran = Counter((words[0], words[1]) for words in crowd.lines("ran"))
    await _finish_all(world, ran)
    figures = Counter(kind for kind in ("changed", "late", "by_hand") for _ in crowd.lines(kind))
    wrong: dict[str, object] = {
        "slots run twice": [slot for slot, count in ran.items() if count > 1][:5],
        "ticks of one schedule side by side": overlapping,
        "slots missing with catch_up all": await _gaps(world, ran),
        "errors": crowd.errors[:3],
        "invariants": [one for one in await world.broken() if not one.startswith("counters")],
    }
    wrong = {name: value for name, value in wrong.items() if value}
    return Outcome(seconds, crowd.kills, len(ran), dict(figures), dict(crowd.quick_retries), wrong)


async def _make(world: World, schedules: int) -> None:
    now = await world.now()
    for number in range(schedules):
        every = (1000, 2000)[number % 2]
        whole = catches_up(number)
        fields = {
            "enabled": True,
            "trigger": f"every {every // 1000}s",
            "every_ms": every,
            "type": "tick",
            "lane": LANE,
        }
        fields |= {"payload": "{}", "prio_bucket": 2, "next_run": now // every * every}
        fields |= {"overlap": "allow" if whole else "coalesce", "catch_up": "all" if whole else "latest"}
        await world.store.schedules.create("default", f"s{number}", fields, "test", "made")
    await world.cypher("MATCH (s:Schedule) SET s.created_at = 0")


async def _finish_all(world: World, ran: Counter[tuple[str, str]]) -> None:
    """No more kills: all that is due fires and runs, and then no schedule is stuck."""
    await world.cypher("MATCH (s:Schedule) WHERE s.next_run > timestamp() SET s.enabled = false, s.next_run = NULL")
    while (await world.store.schedules.fire_due()).more:
        pass
    await world.cypher("MATCH (s:Schedule) SET s.enabled = false, s.next_run = NULL")
    running = await world.cypher("MATCH (t:Task {status: 'running'}) RETURN count(*) AS n")
    assert running[0]["n"] == 0
    while True:
        await world.store.sweeps.admission()
        claims = await world.store.tasks.claim(_RULES, 100, token=f"end-{next(_turn)}", worker="w", session="s")
        if not claims:
            return
        ran.update((str(one.schedule), str(one.slot if one.slot is not None else one.id)) for one in claims)
        await world.store.tasks.finish([Ack(one.uid, one.token, AckOutcome.COMPLETED) for one in claims])


async def _gaps(world: World, ran: Counter[tuple[str, str]]) -> list[str]:
    slots: dict[str, list[int]] = defaultdict(list)
    for name, slot in ran:
        if slot.isdigit():
            slots[name].append(int(slot))
    rows = await world.cypher(
        "MATCH (s:Schedule {catch_up: 'all'}) RETURN s.name AS name, s.every_ms AS every, s.last_slot AS last"
    )
    gaps = []
    for row in rows:
        own = sorted(slots[row["name"]])
        if own != list(range(own[0], row["last"] + 1, row["every"])):
            gaps.append(f"{row['name']}: {own[:5]} … {row['last']}")
    return gaps

"""Everything at once for a while, then the sweeps run dry and the graph is judged from outside."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kgsched.core.task import Gate, Limits
from tests.store.crowd.actor import Address, Role
from tests.store.crowd.crowd import Crowd
from tests.store.crowd.roles import GATE, GATE_LIMIT, GRACE_MS, LEASE_MS, TYPES, enqueuer, keeper, person, worker
from tests.store.worlds import World
from tests.store.worlds.making import LANE

ROLES: tuple[Role, ...] = (enqueuer, worker, worker, worker, worker, keeper, keeper, person)
_HELD = """MATCH (g:Gate {key: $key}) SET g.lock_v = 0 WITH g
  MATCH (t:Task {space: g.space, gate_held: g.key}) RETURN count(t) AS n"""


@dataclass(slots=True)
class Report:
    """What was seen. Everything in `wrong` must be empty or zero."""

    seconds: float
    kills: int
    claims: int
    figures: dict[str, int] = field(default_factory=dict)
    quick_retries: dict[str, int] = field(default_factory=dict)
    wrong: dict[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return (
            f"{self.seconds:.0f} s, {self.kills} kills, {self.claims} claims, {self.figures}; "
            f"quick retries {self.quick_retries or 'none'}; wrong: {self.wrong or 'nothing'}"
        )


async def soak(
    world: World,
    address: Address,
    folder: Path,
    *,
    seconds: float,
    kill_every: float | None = None,
    roles: Sequence[Role] = ROLES,
) -> Report:
    """Run the roles for a time; with `kill_every` one process (never the last one, a person) dies that often."""
    await world.store.cluster.ensure_lanes({LANE: None})
    await world.store.cluster.publish_types(dict.fromkeys(TYPES, LANE))
    await world.store.gates.open([Gate("default", GATE, Limits(GATE_LIMIT))])
    most_held, next_kill, end = 0, kill_every, time.monotonic() + seconds
    with Crowd(address, folder, roles) as crowd:
        begun = time.monotonic()
        while time.monotonic() < end:
            await asyncio.sleep(0.1)
            most_held = max(most_held, (await world.cypher(_HELD, key=GATE))[0]["n"])
            if kill_every and next_kill and time.monotonic() - begun > next_kill:
                next_kill += kill_every
                await asyncio.to_thread(crowd.replace, random.randrange(len(roles) - 1))
        if not kill_every:
            await asyncio.to_thread(crowd.stop)
    before = await world.broken(swept=False)
    await _run_dry(world)
    after = await world.broken()
    return _judge(crowd, seconds, most_held, before, after)


async def _run_dry(world: World) -> None:
    """Leases of the dead run out, and the sweeps go to the end."""
    now = await world.now()
    async with asyncio.timeout(60):
        while await world.now() <= now + LEASE_MS + GRACE_MS:  # noqa: ASYNC110 - the database's clock
            await asyncio.sleep(0.1)
    more = True
    while more:
        swept, _ = await world.store.sweeps.reaper(GRACE_MS)
        await world.sweep()
        more = swept.count > 0


def _judge(crowd: Crowd, seconds: float, most_held: int, before: list[str], after: list[str]) -> Report:
    executed = Counter((uid, claim) for uid, claim in crowd.lines("executed"))
    verdicts = Counter(words[2] for words in crowd.lines("acked"))
    acked = Counter((words[0], words[1]) for words in crowd.lines("acked") if words[2] in ("won", "late"))
    healed = sum(int(words[0]) for words in crowd.lines("healed"))
    figures = {
        "enqueued": sum(len(words) for words in crowd.lines("enqueued")),
        "reaped": sum(int(words[0]) for words in crowd.lines("reaped")),
        "purged": sum(int(words[0]) for words in crowd.lines("purged")),
        "retries": sum(1 for words in crowd.lines("retry") if words[0] == "retried"),
        **{f"acks {verdict}": count for verdict, count in sorted(verdicts.items())},
        "gate held at most": most_held,
    }
    wrong: dict[str, object] = {
        "claims executed twice": sum(count > 1 for count in executed.values()),
        "claims acknowledged twice": sum(count > 1 for count in acked.values()),
        "gate over its limit": max(0, most_held - GATE_LIMIT),
        "healed by the safety nets": healed,
        "errors that reached a caller": crowd.errors[:5],
        "invariants before the last sweeps": before,
        "invariants after them": after,
    }
    wrong = {name: value for name, value in wrong.items() if value}
    return Report(seconds, crowd.kills, len(executed), figures, dict(crowd.quick_retries), wrong)

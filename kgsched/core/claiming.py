"""Which claims a worker asks for: floors, reserved share, hot spare, shares and caps, decided without I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kgsched.core.lanes import DEFAULT_LANE, LANES, Lane

SPARE_FROM_SLOTS = 4
FLOOR_FROM_SLOTS = 2


@dataclass(frozen=True, slots=True)
class TypeRule:
    """What claiming needs to know of a type: its lane, its lease and grace, and the part of the slots it may fill."""

    lane: str = DEFAULT_LANE
    lease_ms: int = 300_000
    max_share: float = 1.0
    grace_ms: int = 60_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """A ready task at the head of its type and bucket, as an unlocked look saw it."""

    type: str
    bucket: int
    rank: int


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """One claim statement: up to `n` tasks of `types`, all of one lane; `capped` asks for the lane's lock."""

    lane: str
    types: tuple[str, ...]
    n: int
    capped: bool = False


@dataclass(slots=True)
class _Plan:
    slots: int
    rules: Mapping[str, TypeRule]
    lanes: Mapping[str, Lane]
    capped_free: dict[str, int]
    lane_load: Counter[str]
    type_load: Counter[str]
    chosen: Counter[tuple[str, str | None]] = field(default_factory=Counter)

    def lane(self, type_: str) -> Lane:
        name = self.rules[type_].lane
        return self.lanes.get(name) or Lane(name)

    def admits(self, type_: str) -> bool:
        lane, rule = self.lane(type_), self.rules[type_]
        if lane.cap is not None and self.capped_free.get(lane.name, 0) <= 0:
            return False
        if self.lane_load[lane.name] >= _share(self.slots, lane.max_share):
            return False
        if self.type_load[type_] >= _share(self.slots, rule.max_share):
            return False
        return not self._spare_needed(lane)

    def _spare_needed(self, lane: Lane) -> bool:
        if self.slots < SPARE_FROM_SLOTS or lane.hot_spare:
            return False
        if not any(self.lane(type_).hot_spare for type_ in self.rules):
            return False
        others = sum(
            load for name, load in self.lane_load.items() if not (self.lanes.get(name) or Lane(name)).hot_spare
        )
        return others >= self.slots - 1

    def urgency(self, candidate: Candidate) -> tuple[int, int, int]:
        """Sort key of the next slot: a lane below its floor, then the reserved share, then bucket and rank.

        The only slot of a worker has no floor: it would be one lane's alone as long as that lane has work.
        """
        lane = self.lane(candidate.type)
        if self.slots >= FLOOR_FROM_SLOTS and self.lane_load[lane.name] < lane.floor:
            first = 0
        elif self.slots >= SPARE_FROM_SLOTS and self.lane_load[lane.name] < int(self.slots * lane.reserved_share):
            first = 1
        else:
            first = 2
        return first, candidate.bucket, candidate.rank

    def take(self, candidate: Candidate) -> None:
        lane, limited = self.lane(candidate.type), self.rules[candidate.type].max_share < 1.0
        self.lane_load[lane.name] += 1
        self.type_load[candidate.type] += 1
        if lane.cap is not None:
            self.capped_free[lane.name] -= 1
        self.chosen[lane.name, candidate.type if limited else None] += 1


def _share(slots: int, share: float) -> int:
    return max(1, int(slots * share))


def plan_claims(
    slots: int,
    running: Iterable[str],
    rules: Mapping[str, TypeRule],
    candidates: Sequence[Candidate],
    capped_free: Mapping[str, int],
    lanes: Mapping[str, Lane] = LANES,
) -> tuple[ClaimRequest, ...]:
    """Claim statements for the free slots of a worker, most urgent lane first.

    `running` names the type of each task that the worker runs now, `rules` the types it handles, `capped_free` what
    an unlocked look said is free in each lane that has a cap. Work-conserving: no slot stays empty for a floor or a
    reserved share; only the hot spare is kept back.
    """
    running = list(running)
    type_load = Counter(running)
    lane_load = Counter(rules[name].lane if name in rules else DEFAULT_LANE for name in running)
    plan = _Plan(slots, rules, lanes, dict(capped_free), lane_load, type_load)
    left = [candidate for candidate in candidates if candidate.type in rules]
    for _ in range(slots - len(running)):
        admitted = [candidate for candidate in left if plan.admits(candidate.type)]
        if not admitted:
            break
        best = min(admitted, key=plan.urgency)
        left.remove(best)
        plan.take(best)
    return tuple(_request(plan, lane, only, n) for (lane, only), n in plan.chosen.items())


def _request(plan: _Plan, lane: str, only: str | None, n: int) -> ClaimRequest:
    types = (
        (only,)
        if only
        else tuple(sorted(name for name, rule in plan.rules.items() if rule.lane == lane and rule.max_share >= 1.0))
    )
    rules = plan.lanes.get(lane) or Lane(lane)
    return ClaimRequest(lane, types, n, capped=rules.cap is not None)

"""What a scenario came to: the journal of the handlers against the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.faults.journal import Journal
from tests.store.worlds import World

SHOWN = 3


@dataclass(slots=True)
class Verdict:
    """Figures of one scenario. `wrong` names what was promised and not kept; it must be empty.

    again: bodies that began once more because of a fault; late: reports that were refused.
    """

    scenario: str
    tasks: int
    seconds: float
    faults: int
    executions: int
    again: int
    late: int
    wrong: dict[str, Any] = field(default_factory=dict)

    def row(self) -> tuple[str, ...]:
        wrong = "; ".join(f"{name}: {what}" for name, what in self.wrong.items()) or "nothing"
        figures = (self.tasks, f"{self.seconds:.0f}", self.faults, self.executions, self.again, self.late)
        return (self.scenario, *map(str, figures), wrong)


HEAD = ("scenario", "tasks", "seconds", "faults", "executions", "again", "late", "wrong")


async def judge(
    world: World, journal: Journal, acknowledged: Iterable[str], scenario: str, seconds: float, faults: int
) -> Verdict:
    """Every acknowledged task completed, its body began at least once, and no claim's body began twice."""
    uids = list(acknowledged)
    executions = journal.executions()
    runs: Counter[str] = Counter()
    for (uid, _), n in executions.items():
        runs[uid] += n
    rows = await world.store.graph.query(
        "MATCH (t:Task) RETURN t.uid AS uid, t.status AS status, t.claims AS claims, t.attempts AS attempts,"
        " t.max_attempts AS most, t.type AS type, coalesce(t.late_finishes, 0) AS late"
    )
    tasks = {row["uid"]: row for row in rows}
    there = [tasks[uid] for uid in uids if uid in tasks]
    wrong: dict[str, list[Any]] = {
        "lost in the graph": [uid for uid in uids if uid not in tasks],
        "not completed": [(row["uid"], row["status"]) for row in there if row["status"] != "completed"],
        "completed without a run": [
            row["uid"] for row in there if row["status"] == "completed" and not runs[row["uid"]]
        ],
        "one claim ran twice": [key for key, n in executions.items() if n > 1],
        "more runs than claims": [uid for uid, n in runs.items() if n > tasks.get(uid, {"claims": 0})["claims"]],
        "more attempts than allowed": [row["uid"] for row in rows if row["attempts"] > row["most"]],
        "facts written not exactly once": await _facts(world),
        "invariants": await world.broken(),
    }
    return Verdict(
        scenario,
        len(uids),
        seconds,
        faults,
        executions.total(),
        executions.total() - len(runs) - sum(row["type"] == "shaky" for row in there),
        sum(row["late"] for row in rows),
        {name: (len(found), found[:SHOWN]) for name, found in wrong.items() if found},
    )


async def _facts(world: World) -> list[Any]:
    """Tasks of type fact and how many nodes each wrote, where that is not one if completed and none if not."""
    facts = await world.store.graph.query("MATCH (f:Fact) RETURN f.uid AS uid, count(*) AS n")
    written = {row["uid"]: row["n"] for row in facts}
    tasks = await world.store.graph.query("MATCH (t:Task {type: 'fact'}) RETURN t.uid AS uid, t.status AS status")
    counted = [(row["uid"], row["status"], written.get(row["uid"], 0)) for row in tasks]
    return [one for one in counted if one[2] != (one[1] == "completed")]

"""docs/graph.md is true: each label, property and relationship that it promises is there, of the kind that it says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kgsched.core.claiming import TypeRule
from kgsched.core.task import Ack, AckOutcome, Dependency, ErrorInfo
from kgsched.store import Neo4jStore
from tests.store.worlds import World, new_task

PAGE = (Path(__file__).resolve().parents[2] / "docs/graph.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.S | re.M)
ROW = re.compile(r"^\| (\w+) \| (text|integer|time|boolean|JSON|list) \| [^|]+ \|$", re.M)
RELATION = re.compile(r"^\| (\w+) \| ([A-Z_]+) \| (\w+) \| [^|]+ \|$", re.M)
KINDS: dict[str, type] = {"text": str, "integer": int, "time": int, "boolean": bool, "JSON": str, "list": list}
TABLES = {name: ROW.findall(body) for name, body in SECTION.findall(PAGE)}
PROPERTIES = [(label, name, kind) for label, rows in TABLES.items() for name, kind in rows]
RELATIONS = RELATION.findall(dict(SECTION.findall(PAGE))["Relationships"])
NOW = 1_900_000_000_000


@pytest.fixture
async def lived(world: World, store: Neo4jStore) -> Neo4jStore:
    """A graph in which every label and every property has occurred."""
    cluster, tasks = store.cluster, store.tasks
    await cluster.ensure_lanes({"maint": 1, "ingestion": None})
    await cluster.publish_types({"a": "ingestion"}, max_attempts={"a": 5})
    await cluster.pause_type("paused", True, "somebody", "because")
    await cluster.pause_lane("paused", True, "somebody", "because")
    await cluster.register_worker("w", {"host": "h", "pid": 1, "slots": 4, "types": ["a"], "session": "s"}, 60_000)
    await _ticked(store)
    entry = {
        "space": "default",
        "who": "ada",
        "door": "cli",
        "action": "tasks.cancel",
        "target": "mine",
        "outcome": "done",
    }
    await store.audit.record([entry])
    root = new_task("a", source="https://example.org", key="k", trace="00-1-1-01", id="mine", eta=1)
    child = new_task("a", uid=store.new_uid([root.uid]), after=(Dependency(root.uid),), spawned_by=root.uid)
    dead = new_task("a")
    await tasks.enqueue([root, child, dead])
    rule = {"a": TypeRule("ingestion")}
    claims = await tasks.claim(rule, 10, token="t", worker="w", session="s")
    done = Ack(root.uid, "t", AckOutcome.COMPLETED, json.dumps({"n": 1}), log=("a line",))
    lost = Ack(dead.uid, "t", AckOutcome.FAILED, error=ErrorInfo("ValueError", "no", "Traceback"))
    await tasks.finish([ack for ack in (done, lost) if ack.uid in {claim.uid for claim in claims}])
    async with store.graph.transaction() as tx:
        await tx.run("MATCH (t:Task {id: 'mine'}) CREATE (t)-[:PRODUCED]->(:Note {id: 'note'})")
    waits = new_task("a", uid=store.new_uid([dead.uid]), after=(Dependency(dead.uid),))
    await tasks.enqueue([waits])
    await tasks.claim(rule, 10, token="u", worker="w", session="s")
    await tasks.finish([Ack(child.uid, "stale", AckOutcome.COMPLETED, "{}", claims=1, worker="w")])
    return store


async def _ticked(store: Neo4jStore) -> None:
    fields = {
        "enabled": True,
        "trigger": "every 1h",
        "every_ms": 3_600_000,
        "type": "a",
        "lane": "ingestion",
        "payload": "{}",
        "prio_bucket": 2,
        "overlap": "coalesce",
        "catch_up": "latest",
        "anchor": 0,
        "origin": "default",
        "next_run": 3_600_000,
    }
    await store.schedules.create("default", "hourly", fields, "somebody", "made")
    await store.schedules.fire_due()
    await store.schedules.record_run("default", "hourly", "a tick", False, "no")


def test_the_page_has_tables() -> None:
    assert len(PROPERTIES) > 50
    assert len(RELATIONS) == 5


async def test_every_property_is_there_and_of_its_kind(lived: Neo4jStore) -> None:
    wrong: list[Any] = []
    for label, name, kind in PROPERTIES:
        rows = await lived.graph.query(
            "MATCH (n) WHERE $label IN labels(n) AND n[$name] IS NOT NULL RETURN n[$name] AS value",
            label=label,
            name=name,
        )
        values = [row["value"] for row in rows]
        if not values or not all(isinstance(value, KINDS[kind]) for value in values):
            wrong.append((label, name, kind, values[:2]))
        if kind == "JSON":
            assert [json.loads(value) for value in values]
    assert wrong == []


async def test_every_relationship_is_there(lived: Neo4jStore) -> None:
    rows = await lived.graph.query(
        "MATCH (a)-[r]->(b) RETURN DISTINCT labels(a)[0] AS start, type(r) AS type, labels(b)[0] AS end"
    )
    there = {(row["start"], row["type"], row["end"]) for row in rows}
    promised = {(start, kind, "Note" if end == "any" else end) for start, kind, end in RELATIONS}
    assert promised == there


async def test_no_label_is_left_out(lived: Neo4jStore) -> None:
    rows = await lived.graph.query("MATCH (n) UNWIND labels(n) AS label RETURN DISTINCT label")
    machinery = {"Migration", "Stat", "Gate", "Lease", "ScheduleRevision", "Note", "Answer"}
    assert {row["label"] for row in rows} - machinery == set(TABLES) - {"Relationships"}

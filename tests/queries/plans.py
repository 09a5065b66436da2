"""Plans as the server explains them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from kgsched.store import Neo4jStore
from kgsched.store.queries import statement

POOR = ("AllNodesScan", "CartesianProduct", "NodeByLabelScan", "RelationshipTypeScan")


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator, with those above it, nearest first."""

    name: str
    details: str
    above: tuple[str, ...]

    @property
    def finds_nodes(self) -> bool:
        return any(word in self.name for word in ("Seek", "Scan", "MergeUniqueNode"))


@dataclass(frozen=True, slots=True)
class Plan:
    query_type: str
    columns: tuple[str, ...]
    operators: tuple[Operator, ...]

    @property
    def poor(self) -> list[str]:
        return [f"{one.name} {one.details[:100]}" for one in self.operators if any(bad in one.name for bad in POOR)]

    def finds(self, index: str) -> list[Operator]:
        """Seeks and scans of an index like `Task(type, ready, rank)`."""
        return [one for one in self.operators if one.finds_nodes and index in one.details]

    def reads_whole(self, indexes: Collection[str]) -> list[str]:
        """Those of some indexes that are read from end to end."""
        return [index for index in sorted(indexes) if any("IndexScan" in one.name for one in self.finds(index))]


async def explain(store: Neo4jStore, name: str, prefix: str = "") -> Plan:
    """The plan of a statement as if its parameters were null."""
    one = statement(name)
    async with store.client.raw_session(read=False) as session:
        result = await session.run(f"EXPLAIN {prefix}\n{one.text}", one.arguments(dict.fromkeys(one.parameters)))
        columns = tuple(result.keys())
        summary = await result.consume()
    operators = tuple(_walk(summary.plan, ())) if summary.plan else ()
    return Plan(summary.query_type or "", columns, operators)


def _walk(node: dict[str, Any], above: tuple[str, ...]) -> Iterator[Operator]:
    name, children = _name(node), node.get("children", ())
    if name == "CartesianProduct" and "Argument" in map(_name, children):
        name = "Apply"  # a product with the one row at hand, as the newer planner writes it
    yield Operator(name, str(node.get("args", {}).get("Details", "")), above)
    for child in children:
        yield from _walk(child, (name, *above))


def _name(node: dict[str, Any]) -> str:
    return str(node["operatorType"]).split("@")[0]

"""Rows to enqueue and the rules to claim them by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kgsched.core.claiming import TypeRule
from kgsched.core.task import Dependency, NewTask, OnFailure
from kgsched.store.uids import new_uid

LANE = "ingestion"
EVERYTHING = {name: TypeRule(LANE) for name in ("a", "b", "c")}

Parent = NewTask | str | tuple[NewTask | str, OnFailure | str] | Dependency


def new_task(type_: str = "a", *, after: Iterable[Parent] = (), **fields: Any) -> NewTask:
    """A task; `after` takes tasks, uids, (task, rule) pairs or dependencies. The uid follows the parents'."""
    edges = tuple(_dependency(parent) for parent in after)
    parents = [edge.uid for edge in edges]
    if spawner := fields.get("spawned_by"):
        parents.append(spawner)
    values: dict[str, Any] = {"uid": new_uid(parents), "lane": LANE, "payload": "{}", **fields}
    return NewTask(type=type_, after=edges, **values)


def _dependency(parent: Parent) -> Dependency:
    if isinstance(parent, Dependency):
        return parent
    one, rule = parent if isinstance(parent, tuple) else (parent, OnFailure.CANCEL)
    return Dependency(one.uid if isinstance(one, NewTask) else one, OnFailure(rule))

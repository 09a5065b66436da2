"""`kgsched status`."""

from __future__ import annotations

from typing import Any

from kgsched.surfaces.cli.options import Json
from kgsched.surfaces.cli.output import print_json, print_line, print_pairs, print_table
from kgsched.surfaces.cli.session import visit


def status(as_json: Json = False) -> None:
    """Counts by state and lane, the age of the oldest ready task, the leader, and the ages of the last passes."""
    record = visit(lambda app: app.operations.cluster.status())
    if as_json:
        print_json(record)
        return
    print_pairs(_head(record))
    states = [state for state, count in record["tasks"].items() if count]
    rows = [{"lane": lane, **counts} for lane, counts in record["lanes"].items()]
    if rows:
        print_line("")
        print_table(("lane", *states), [*rows, {"lane": "all", **record["tasks"]}])
    if record["loops"]:
        print_line("")
        print_table(("loop", "last pass", "worker"), [_loop(one) for one in record["loops"]])


def _head(record: dict[str, Any]) -> list[tuple[str, Any]]:
    age = record["oldest_ready_age"]
    return [
        ("space", record["space"]),
        ("leader", record["leader"]["worker"] or "nobody (start `kgsched daemon`)"),
        ("workers", record["workers"]),
        ("ready and waiting", record["tasks"]["pending"]),
        ("oldest ready", "-" if age is None else f"{age:g} s"),
        *((f"oldest {name}", f"{age:g} s") for name, age in record["oldest_ready_by_priority"].items()),
        ("next schedule run", record["next_schedule_run"] or "-"),
    ]


def _loop(one: dict[str, Any]) -> dict[str, Any]:
    return {"loop": one["name"], "last pass": f"{one['age']:g} s ago", "worker": one["worker"]}

"""What crosses the pipes between a worker and the process of one handler: JSON lines, and how things are found."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from importlib import import_module
from typing import Any

from kgsched.core.outcome import Cancelled, Completed, Failed, Outcome, Snoozed
from kgsched.core.task import ErrorInfo
from kgsched.errors import InvalidValue
from kgsched.registry import TaskType

MAX_LINE = 8 * 1024 * 1024


def reference(thing: Any) -> str:
    """`module:qualname` of something that another process can import. Raises InvalidValue with what to do."""
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if not module or not name or "<" in name or module == "__main__":
        where = "the program's main file" if module == "__main__" else "another function or an object"
        raise InvalidValue(
            f"handler {name or thing!r} lies in {where}: a process cannot import it; move it to the top of a module"
        )
    return f"{module}:{name}"


def find(text: str) -> Any:
    """The thing that a reference names."""
    module, _, name = text.partition(":")
    thing: Any = import_module(module)
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing


def job_line(task_type: TaskType, facts: Mapping[str, Any]) -> str:
    """All that the process needs to know, as one line."""
    return json.dumps(
        {
            "handler": reference(task_type.handler),
            "permanent": [reference(one) for one in task_type.permanent],
            "transient": [reference(one) for one in task_type.transient],
            "memory_mb": task_type.memory_mb,
            "path": sys.path,
            **facts,
        }
    )


def outcome_line(outcome: Outcome) -> str:
    return json.dumps({"outcome": type(outcome).__name__, **asdict(outcome)})


def read_outcome(message: Mapping[str, Any]) -> Outcome:
    match message["outcome"]:
        case "Completed":
            return Completed(message["result"])
        case "Snoozed":
            return Snoozed(message["delay_ms"], message["reason"])
        case "Cancelled":
            return Cancelled(message["reason"])
        case _:
            return Failed(ErrorInfo(**message["error"]), message["transient"], message["after_ms"])

"""kgsched: a durable task scheduler that lives inside a Neo4j graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kgsched.version import __version__

if TYPE_CHECKING:
    from kgsched.app import Kgsched
    from kgsched.config import Settings
    from kgsched.errors import Cancel, KgschedError, Permanent, Retry, Snooze, TaskFailed
    from kgsched.operations.new_task import EnqueueRequest
    from kgsched.runtime.context import TaskContext


__all__ = [
    "Cancel",
    "EnqueueRequest",
    "Kgsched",
    "KgschedError",
    "Permanent",
    "Retry",
    "Settings",
    "Snooze",
    "TaskContext",
    "TaskFailed",
    "__version__",
]

_HOMES = {
    "EnqueueRequest": "kgsched.operations.new_task",
    "Kgsched": "kgsched.app",
    "Settings": "kgsched.config",
    "TaskContext": "kgsched.runtime.context",
}


def __getattr__(name: str) -> Any:
    """Names are imported when they are first used: commands that need little start fast."""
    if name not in __all__:
        raise AttributeError(f"module 'kgsched' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "kgsched.errors")), name)

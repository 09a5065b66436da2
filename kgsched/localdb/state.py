"""The note about the running server: one small JSON file, replaced in one step, never trusted unchecked."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from kgsched.errors import LocalDbError
from kgsched.localdb.home import write_private

STARTING, READY = "starting", "ready"


@dataclass(frozen=True, slots=True)
class ServerState:
    """What was started: `instance` is on the process's command line too; `folder` is its Neo4j home."""

    uri: str
    port: int
    pid: int
    instance: str
    version: str
    folder: str
    phase: str = STARTING
    pinned: bool = False

    def ready(self) -> ServerState:
        return replace(self, phase=READY)


def read_state(path: Path) -> ServerState | None:
    """The note, or None when there is none that can be read: the processes themselves are asked then."""
    try:
        return ServerState(**json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise LocalDbError(f"cannot read {path}: {error.strerror}; set KGSCHED_HOME to a folder of your own") from error
    except (ValueError, TypeError):
        return None


def write_state(path: Path, state: ServerState) -> None:
    write_private(path, json.dumps(asdict(state)) + "\n")

"""Wait until a started server takes a login and answers a query."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kgsched.errors import KgschedError, LocalDbError, StorageConflict, StorageConnectionError
from kgsched.localdb import diagnosis, process
from kgsched.localdb.home import LineFolder
from kgsched.localdb.state import ServerState

USER, DATABASE = "neo4j", "neo4j"
POLL = 0.2
SAY_EVERY = 10.0
RECOVERY = re.compile(r"""Recovery required|\.Recovery["\]][^\n]*?(\d+% completed)""")  # text on 5, JSON later

Probe = Callable[[str, str, str, str], None]
Progress = Callable[[str], None]


@dataclass(slots=True)
class LogWatch:
    """What the server wrote since it was started: `console` and `debug` are offsets where this run begins."""

    folder: LineFolder
    console: int = 0
    debug: int = 0

    @classmethod
    def from_now(cls, folder: LineFolder) -> LogWatch:
        return cls(folder, _size(folder.console_log), _size(folder.debug_log))

    def recovery(self) -> str | None:
        """The newest sign of recovery since the last call: how far it is, or an empty text at its begin."""
        size = _size(self.folder.debug_log)
        if size <= self.debug:
            self.debug = min(self.debug, size)  # a rotated log begins anew
            return None
        with self.folder.debug_log.open("rb") as file:
            file.seek(self.debug)
            text = file.read(size - self.debug).decode("utf-8", errors="replace")
        self.debug = size
        found = RECOVERY.findall(text)
        return found[-1] if found else None


def wait_ready(state: ServerState, watch: LogWatch, probe: Probe, timeout: float, progress: Progress) -> None:
    """Return once `probe` succeeds. Raises LocalDbError when the server died, or has not been ready for `timeout` s.

    The time begins anew with every sign of recovery in the log. A server that is too slow is stopped.
    """
    folder = watch.folder
    password = folder.password
    begun = time.monotonic()
    deadline, say_at = begun + timeout, begun + SAY_EVERY
    while True:
        if not process.is_ours(state.pid, state.folder, state.instance):
            raise diagnosis.died(folder.path, folder.console_log, watch.console)
        if process.owns_port(state.pid, state.port) and _answers(probe, state, password):
            return
        now = time.monotonic()
        if (done := watch.recovery()) is not None:
            progress(f"the database recovers after a crash {done and f'({done})'}".rstrip())
            deadline = now + timeout
        if now >= deadline:
            process.stop(state.pid)
            raise diagnosis.too_slow(timeout, folder.path, folder.console_log, watch.console)
        if now >= say_at:
            progress(f"still waiting for Neo4j ({now - begun:.0f} s)")
            say_at = now + SAY_EVERY
        time.sleep(POLL)


def _answers(probe: Probe, state: ServerState, password: str) -> bool:
    try:
        probe(state.uri, USER, password, DATABASE)
    except (StorageConnectionError, StorageConflict):
        return False  # the port opens before the database does
    except LocalDbError:
        raise
    except KgschedError as error:
        raise LocalDbError(
            f"the managed Neo4j at {state.uri} runs, but refuses kgsched: {error}; if its password was changed, "
            f"write the new one to {Path(state.folder) / 'password'}"
        ) from error
    return True


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0

"""The steps that change the server of a data folder; each is taken while this process alone holds the control lock."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from kgsched.config import Settings
from kgsched.errors import LocalDbError
from kgsched.localdb import flock, process
from kgsched.localdb.conf import Program
from kgsched.localdb.home import Home, LineFolder, choose_version
from kgsched.localdb.install import install
from kgsched.localdb.launch import Launcher
from kgsched.localdb.lockfile import line_of
from kgsched.localdb.ready import Probe, Progress
from kgsched.localdb.state import READY, ServerState, read_state


@dataclass(frozen=True, slots=True)
class Supervisor:
    """What the operations on one data folder have in common."""

    settings: Settings
    probe: Probe
    progress: Progress
    home: Home

    def alone(self, what: str) -> AbstractContextManager[None]:
        """Hold the control lock; `what` is shown to those who wait."""
        self.home.prepare()
        return flock.exclusive(self.home.control_lock, what, self.progress)

    def install(self, version: str | None = None) -> Program:
        """Download and prepare what is missing of the version that fits the data folder."""
        wanted = choose_version(self.settings, self.home) if version is None else version
        return install(self.settings, wanted, self.probe, self.progress)

    def running(self) -> ServerState | None:
        """The server that is ready and proves to be ours: process, command line and port."""
        state = read_state(self.home.state_file)
        if state is None or state.phase != READY:
            return None
        if not process.is_ours(state.pid, state.folder, state.instance):
            return None
        return state if process.owns_port(state.pid, state.port) else None

    def ensure(self, program: Program, pinned: bool = False) -> tuple[ServerState, bool]:
        """The running server, and whether it was started just now. A pinned one that died comes back pinned."""
        if state := self.running():
            return state, False
        last = read_state(self.home.state_file)
        launcher = Launcher(self.home, self.settings, self.probe, self.progress)
        return launcher.start(program, pinned or (last is not None and last.pinned)), True

    def stop(self) -> bool:
        """End every server on this data folder, noted or not; False when there was none."""
        found = False
        for folder in self.home.lines():
            while server := process.find_server(folder.path):
                self.progress(f"stopping Neo4j (process {server[0]})")
                process.stop(server[0])
                found = True
        self.home.state_file.unlink(missing_ok=True)
        return found

    def leave(self) -> None:
        """Stop the server if nobody else holds it and nobody pinned it."""
        with self.alone("stopping the server"):
            state = read_state(self.home.state_file)
            if (state is None or not state.pinned) and not flock.is_held(self.home.holders_lock):
                self.stop()

    @contextmanager
    def stopped(self, program: Program) -> Iterator[None]:
        """Stop the server for a while; it runs again afterwards, on the same port, if it ran."""
        before = self.running()
        self.stop()
        try:
            yield
        finally:
            if before is not None:
                self.ensure(program, before.pinned)

    def refuse_while_held(self, what: str) -> None:
        if not flock.is_held(self.home.holders_lock):
            return
        pids = ", ".join(str(pid) for pid in process.users_of(self.home.holders_lock)) or "?"
        raise LocalDbError(f"cannot {what}: it is used by kgsched process {pids}; stop that first")

    def data_folder(self) -> LineFolder:
        """The folder with the data. Raises LocalDbError when there is none yet."""
        lines = self.home.lines()
        if not lines:
            raise LocalDbError(f"there is no managed Neo4j in {self.home.root} yet; `kgsched neo4j start` makes one")
        return lines[-1]

    def current_folder(self) -> LineFolder:
        return self.home.line(line_of(choose_version(self.settings, self.home)))


def discard(folder: Path) -> None:
    """Delete a folder with all that is in it, if there is one."""
    if folder.exists():
        shutil.rmtree(folder)

"""Bring one server up on a data folder, or take over one whose starter was killed.

The caller holds the control lock.
"""

from __future__ import annotations

import fcntl
import secrets
import shutil
from dataclasses import dataclass

from kgsched.config import Settings
from kgsched.errors import LocalDbError
from kgsched.localdb import process
from kgsched.localdb.conf import Program
from kgsched.localdb.diagnosis import PortTaken
from kgsched.localdb.home import Home, LineFolder, write_private
from kgsched.localdb.lockfile import line_of
from kgsched.localdb.ready import LogWatch, Probe, Progress, wait_ready
from kgsched.localdb.state import ServerState, write_state

PORT_TRIES = 3
LEAST_FREE = 512 * 1024 * 1024
LOG_LIMIT = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Launcher:
    """Starts servers for one data folder."""

    home: Home
    settings: Settings
    probe: Probe
    progress: Progress

    def start(self, program: Program, pinned: bool) -> ServerState:
        """The state of a server that is ready. Raises LocalDbError that says why there is none."""
        folder = self.home.line(line_of(program.version))
        try:
            return self._take_over(folder, pinned) or self._start(folder, program, pinned)
        except OSError as error:
            raise LocalDbError(
                f"cannot use the data folder {folder.path}: {error}; make it writable or make room, "
                "or set KGSCHED_HOME to another folder"
            ) from error

    def _take_over(self, folder: LineFolder, pinned: bool) -> ServerState | None:
        found = process.find_server(folder.path)
        if found is None:
            return None
        pid, instance = found
        self.progress(f"taking over the Neo4j that another process began to start (process {pid})")
        port = folder.port
        if port is None:
            raise LocalDbError(
                f"process {pid} runs Neo4j on {folder.path}, but {folder.port_file} does not say where; "
                "end it, then try again"
            )
        state = _state(port, pid, instance, folder, pinned)
        try:
            wait_ready(state, LogWatch.from_now(folder), self.probe, self.settings.neo4j_ready_timeout, self.progress)
        except LocalDbError as error:
            if process.is_ours(pid, folder.path, instance):
                raise
            self.progress(f"it did not come up, starting anew ({str(error).splitlines()[0]})")
            return None
        write_state(self.home.state_file, state.ready())
        return state.ready()

    def _start(self, folder: LineFolder, program: Program, pinned: bool) -> ServerState:
        folder.prepare()
        _check_free(folder)
        _check_unlocked(folder)
        write_private(folder.version_file, program.version + "\n")
        for attempt in range(1, PORT_TRIES + 1):
            port = self._pick_port(folder)
            try:
                return self._start_on(port, folder, program, pinned)
            except PortTaken:
                if attempt == PORT_TRIES or self.settings.neo4j_port is not None:
                    raise
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _start_on(self, port: int, folder: LineFolder, program: Program, pinned: bool) -> ServerState:
        write_private(folder.port_file, f"{port}\n")
        write_private(folder.path / "conf" / "neo4j.conf", program.configuration(folder.path, port))
        if folder.console_log.exists() and folder.console_log.stat().st_size > LOG_LIMIT:
            folder.console_log.replace(folder.console_log.with_suffix(".log.1"))
        watch, instance = LogWatch.from_now(folder), secrets.token_hex(8)
        self.progress(f"starting Neo4j {program.version}, data in {folder.path}")
        pid = process.launch(program.command(folder.path, instance), folder.path, folder.console_log)
        state = _state(port, pid, instance, folder, pinned)
        write_state(self.home.state_file, state)
        wait_ready(state, watch, self.probe, self.settings.neo4j_ready_timeout, self.progress)
        write_state(self.home.state_file, state.ready())
        self.progress(f"Neo4j {program.version} is ready at {state.uri}")
        return state.ready()

    def _pick_port(self, folder: LineFolder) -> int:
        """The port that was asked for, else the last one (who knew it finds the server again), else a new one."""
        wanted = self.settings.neo4j_port
        if wanted is not None:
            if not process.port_is_free(wanted):
                raise PortTaken(
                    f"port {wanted} of 127.0.0.1 (KGSCHED_NEO4J_PORT) is taken by another program; end that one, "
                    "or set another port, or unset it to have a free one chosen"
                )
            return wanted
        if (last := folder.port) is not None:
            if process.port_is_free(last):
                return last
            self.progress(f"port {last} is taken by another program, choosing another")
        return process.free_port()


def _state(port: int, pid: int, instance: str, folder: LineFolder, pinned: bool) -> ServerState:
    return ServerState(
        uri=f"bolt://127.0.0.1:{port}",
        port=port,
        pid=pid,
        instance=instance,
        version=folder.version,
        folder=str(folder.path),
        pinned=pinned,
    )


def _check_free(folder: LineFolder) -> None:
    free = shutil.disk_usage(folder.path).free
    if free < LEAST_FREE:
        raise LocalDbError(
            f"the disk of {folder.path} is full: {free / 1e6:.0f} MB are free, Neo4j wants {LEAST_FREE / 1e6:.0f}; "
            "make room, or set KGSCHED_HOME to a folder on another disk"
        )


def _check_unlocked(folder: LineFolder) -> None:
    """A server that is not ours (a container, a hand-started one) holds Neo4j's own lock on the store."""
    if not folder.store_lock.exists():
        return
    with folder.store_lock.open("rb+") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LocalDbError(
                f"the data folder {folder.path} is locked by another Neo4j that kgsched did not start; "
                "stop that one, or set KGSCHED_HOME to another folder, or KGSCHED_NEO4J_URI to its address"
            ) from None

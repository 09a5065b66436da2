"""The managed Neo4j of one data folder: attach to it or start it, hold it, stop it.

Many processes use one server. What changes it happens under one lock; what only looks does not wait for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from kgsched.config import Settings
from kgsched.errors import LocalDbError
from kgsched.localdb import diagnosis, flock, maintenance, process, snapshot
from kgsched.localdb.home import Home, LineFolder, choose_version
from kgsched.localdb.lockfile import line_of
from kgsched.localdb.ready import DATABASE, USER, Probe, Progress
from kgsched.localdb.state import READY, ServerState, read_state, write_state
from kgsched.localdb.supervisor import Supervisor


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where the server is and how to log in."""

    uri: str
    user: str
    password: str = field(repr=False)
    database: str
    instance: str
    pid: int
    version: str
    home: Path
    started_by_us: bool


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """What a person wants to know; sizes in bytes, `held_by` are process ids."""

    running: bool
    ready: bool
    pinned: bool
    version: str
    uri: str | None
    pid: int | None
    held_by: tuple[int, ...]
    memory: int | None
    data_size: int
    home: Path
    data: Path
    log: Path
    cache: Path
    password_file: Path


def quiet(line: str) -> None:
    """Progress for nobody."""


class ManagedServer:
    """The server that kgsched installs and runs for the data folder of `settings`.

    `probe(uri, user, password, database)` raises StorageConnectionError or StorageConflict while a login plus
    `RETURN 1` does not work yet, any other KgschedError when it never will. Every method may be called from any
    process and any thread; all raise LocalDbError that says what to do.
    """

    def __init__(self, settings: Settings, probe: Probe, progress: Progress = quiet) -> None:
        self._settings = settings
        self._home = Home(settings.home.expanduser().resolve())
        self._supervisor = Supervisor(settings, probe, progress, self._home)

    def ensure(self) -> ServerAddress:
        """The running server; starts it when none runs, or when it died. Does not keep it running."""
        choose_version(self._settings, self._home)
        if state := self._supervisor.running():
            return _address(state, started=False)
        program = self._supervisor.install()
        with self._supervisor.alone("starting the server"):
            return _address(*self._supervisor.ensure(program))

    @contextmanager
    def hold(self) -> Iterator[ServerAddress]:
        """As `ensure`, and keep it running; the last holder that leaves stops it, unless it is pinned."""
        program = self._supervisor.install()
        self._home.prepare()
        try:
            with ExitStack() as held:
                with self._supervisor.alone("starting the server"):
                    held.enter_context(flock.shared(self._home.holders_lock))
                    address = _address(*self._supervisor.ensure(program))
                yield address
        finally:
            self._supervisor.leave()

    def start(self, pin: bool = True) -> ServerAddress:
        """As `ensure`; a pinned server runs on until `stop`."""
        program = self._supervisor.install()
        with self._supervisor.alone("starting the server"):
            state, started = self._supervisor.ensure(program, pin)
            if pin and not state.pinned:
                write_state(self._home.state_file, replace(state, pinned=True))
            return _address(state, started)

    def stop(self, force: bool = False) -> bool:
        """Stop it; False when it did not run. Refused while other processes hold it, unless forced."""
        if not self._home.root.exists():
            return False
        with self._supervisor.alone("stopping the server"):
            if not force:
                self._supervisor.refuse_while_held("stop the server")
            return self._supervisor.stop()

    def status(self) -> ServerStatus:
        """What there is and what runs; waits for nothing."""
        version = choose_version(self._settings, self._home)
        folder = self._home.line(line_of(version))
        state = read_state(self._home.state_file)
        if state is not None and not process.is_ours(state.pid, state.folder, state.instance):
            state = None
        return ServerStatus(
            running=state is not None,
            ready=state is not None and state.phase == READY,
            pinned=state is not None and state.pinned,
            version=state.version if state else version,
            uri=state.uri if state else None,
            pid=state.pid if state else None,
            held_by=tuple(process.users_of(self._home.holders_lock)),
            memory=process.memory_of(state.pid) if state else None,
            data_size=snapshot.size_of(folder.path / "data"),
            home=self._home.root,
            data=folder.path,
            log=folder.console_log,
            cache=self._settings.cache,
            password_file=folder.password_file,
        )

    def uri(self) -> str:
        """The address of the running server."""
        state = self._supervisor.running()
        if state is None:
            raise LocalDbError("the managed Neo4j does not run; start it with `kgsched neo4j start`")
        return state.uri

    def log_tail(self, lines: int = 50) -> list[str]:
        """The last lines that the server wrote, oldest first."""
        return diagnosis.tail(self._supervisor.current_folder().console_log, lines)

    def backup(self, path: Path) -> Path:
        """Write the stopped server's data to `path`, a file or a folder, and start it again if it ran."""
        return maintenance.backup(self._supervisor, path)

    def restore(self, path: Path) -> Path | None:
        """Put a backup in the place of the data; return where the data that was there before lies now."""
        return maintenance.restore(self._supervisor, path)

    def upgrade(self, version: str) -> Path:
        """Take the data over to a newer version; return where the untouched older data lies."""
        return maintenance.upgrade(self._supervisor, version)

    def destroy(self) -> None:
        """Stop the server and delete its data for good; the downloaded program stays in the cache."""
        maintenance.destroy(self._supervisor)


def _address(state: ServerState, started: bool) -> ServerAddress:
    folder = LineFolder(Path(state.folder))
    return ServerAddress(
        uri=state.uri,
        user=USER,
        password=folder.password,
        database=DATABASE,
        instance=state.instance,
        pid=state.pid,
        version=state.version,
        home=folder.path,
        started_by_us=started,
    )

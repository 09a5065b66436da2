"""Copy, replace, upgrade and delete the data of the managed server."""

from __future__ import annotations

from pathlib import Path

from kgsched.errors import LocalDbError
from kgsched.localdb import snapshot
from kgsched.localdb.home import LineFolder, write_private
from kgsched.localdb.lockfile import line_of, load_lock, version_key
from kgsched.localdb.supervisor import Supervisor, discard

FRESH = "fresh"  # a folder below the home that is filled before it takes its place


def backup(supervisor: Supervisor, target: Path) -> Path:
    """Pack the data of the stopped server into `target`, a file or a folder."""
    supervisor.data_folder()
    program = supervisor.install()
    with supervisor.alone("a backup"), supervisor.stopped(program):
        return snapshot.pack(supervisor.data_folder(), target.absolute())


def restore(supervisor: Supervisor, source: Path) -> Path | None:
    """Put a backup in the place of the data; return where the data that was there before lies now."""
    version, home = snapshot.packed_version(source), supervisor.home
    with supervisor.alone("a restore"):
        lines = home.lines()
        if lines and line_of(lines[-1].version) != line_of(version):
            raise LocalDbError(
                f"{source} is from Neo4j {version} and the data in {home.root} from {lines[-1].version}; "
                "set KGSCHED_HOME to an empty folder to restore it there"
            )
        supervisor.refuse_while_held("restore a backup")
        fresh, folder = LineFolder(home.root / FRESH), home.line(line_of(version))
        discard(fresh.path)
        snapshot.unpack(source, fresh.path)
        write_private(fresh.version_file, version + "\n")
        if folder.port_file.exists():
            fresh.port_file.write_bytes(folder.port_file.read_bytes())
        before = supervisor.running()
        supervisor.stop()
        replaced = snapshot.set_aside(home, folder) if folder.version_file.exists() else None
        fresh.path.rename(folder.path)
    if before is not None:
        program = supervisor.install()
        with supervisor.alone("starting the server"):
            supervisor.ensure(program, before.pinned)
    return replaced


def upgrade(supervisor: Supervisor, version: str) -> Path:
    """Take the data over to `version` and start it there; return where the untouched older copy lies.

    When the newer server does not come up, the older data stays in use.
    """
    load_lock(version)
    _refuse_older(supervisor.data_folder(), version)
    program = supervisor.install(version)
    with supervisor.alone("an upgrade"):
        source = supervisor.data_folder()
        _refuse_older(source, version)
        before, last = supervisor.running(), source.version
        supervisor.stop()
        target, kept = _prepare(supervisor, source, version)
        try:
            supervisor.ensure(program, before is not None and before.pinned)
        except LocalDbError as error:
            supervisor.stop()
            discard(target.path)
            if target.path == source.path:
                kept.rename(source.path)
            raise LocalDbError(f"the upgrade failed, the data of Neo4j {last} is as it was: {error}") from error
        if before is None:
            supervisor.stop()
    return kept


def destroy(supervisor: Supervisor) -> None:
    """Stop the server and delete its data. The program stays in the cache, the two lock files in the folder."""
    if not supervisor.home.root.exists():
        return
    with supervisor.alone("deleting the data"):
        supervisor.refuse_while_held("delete the data")
        supervisor.stop()
        for folder in supervisor.home.lines():
            discard(folder.path)
        for name in (snapshot.REPLACED, FRESH):
            discard(supervisor.home.root / name)


def _prepare(supervisor: Supervisor, source: LineFolder, version: str) -> tuple[LineFolder, Path]:
    """The folder that the new version will run on, and where the old data stays."""
    home = supervisor.home
    target = home.line(line_of(version))
    if target.path == source.path:
        return target, snapshot.copy_aside(home, source)
    supervisor.progress(f"copying {snapshot.size_of(source.path / 'data') / 1e6:.0f} MB")
    fresh = home.root / FRESH
    discard(fresh)
    snapshot.copy(source, fresh)
    fresh.rename(target.path)
    return target, source.path


def _refuse_older(source: LineFolder, version: str) -> None:
    if version_key(version) <= version_key(source.version):
        raise LocalDbError(f"the data in {source.path} is of Neo4j {source.version} already; {version} is not newer")

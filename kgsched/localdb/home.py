"""Where the managed server's files lie, and which major line the data folder is on.

<home>/control.lock      held alone while the server is started, stopped, copied
<home>/holders.lock      shared by every long-lived process that uses the server
<home>/server.json       what runs: see state.py
<home>/<line>/           Neo4j's own folder: conf, data, logs; plus password, port, version, console.log
"""

from __future__ import annotations

import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from kgsched.config import DEFAULT_NEO4J, Settings
from kgsched.errors import LocalDbError
from kgsched.localdb import conf
from kgsched.localdb.lockfile import line_of, load_lock, shipped_versions, version_key

VERSION = re.compile(r"\d+(\.\d+){1,3}")


@dataclass(frozen=True, slots=True)
class Home:
    """One data folder: `root` is KGSCHED_HOME."""

    root: Path

    @property
    def control_lock(self) -> Path:
        return self.root / "control.lock"

    @property
    def holders_lock(self) -> Path:
        return self.root / "holders.lock"

    @property
    def state_file(self) -> Path:
        return self.root / "server.json"

    def line(self, line: str) -> LineFolder:
        return LineFolder(self.root / line)

    def lines(self) -> list[LineFolder]:
        """The folders that hold data, oldest line first."""
        found = [LineFolder(path.parent) for path in self.root.glob("*/version") if path.parent.name.isdigit()]
        return sorted(found, key=lambda folder: version_key(folder.version))

    def prepare(self) -> None:
        """Create the folder for this user alone. Raises LocalDbError when that is not possible."""
        remedy = "set KGSCHED_HOME to a folder of your own"
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise LocalDbError(f"cannot make the data folder {self.root}: {error.strerror}; {remedy}") from error
        if not os.access(self.root, os.W_OK | os.X_OK):
            raise LocalDbError(f"the data folder {self.root} is not writable for this user; {remedy}")


@dataclass(frozen=True, slots=True)
class LineFolder:
    """Neo4j's home folder for one major line."""

    path: Path

    @property
    def version_file(self) -> Path:
        return self.path / "version"

    @property
    def version(self) -> str:
        """The version that last ran on this folder."""
        text = self.version_file.read_text(encoding="utf-8", errors="replace").strip()
        if not VERSION.fullmatch(text):
            raise LocalDbError(
                f"{self.version_file} holds {text[:40]!r}, which is no version; write the version that last ran there "
                "into it, like 5.26.30"
            )
        return text

    @property
    def password_file(self) -> Path:
        return self.path / "password"

    @property
    def password(self) -> str:
        return self.password_file.read_text(encoding="utf-8").strip()

    @property
    def port_file(self) -> Path:
        return self.path / "port"

    @property
    def port(self) -> int | None:
        """The port that the server had last; None when that is not known any more."""
        try:
            return int(self.port_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    @property
    def console_log(self) -> Path:
        return self.path / "console.log"

    @property
    def debug_log(self) -> Path:
        return self.path / "logs" / "debug.log"

    @property
    def store_lock(self) -> Path:
        return self.path / "data" / "databases" / "store_lock"

    def prepare(self) -> None:
        """Make the folder ready for a first or a later start; a first one gets a random password."""
        for name in (".", "conf", "data", "data/dbms", "logs", "import-empty"):
            (self.path / name).mkdir(exist_ok=True, mode=0o700)
        if self.password_file.exists():
            return
        if (self.path / "data" / "databases" / "system").exists():
            raise LocalDbError(
                f"{self.password_file} is gone, and {self.path} holds data that only its password opens; "
                "put the file back, or restore a backup, or begin anew with `kgsched neo4j destroy`"
            )
        password = secrets.token_urlsafe(24)
        write_private(self.path / "data" / "dbms" / "auth.ini", conf.auth_ini(password))
        write_private(self.password_file, password + "\n")


def write_private(path: Path, text: str) -> None:
    """Replace `path` in one step, readable for this user alone."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def choose_version(settings: Settings, home: Home) -> str:
    """The version to run: the one asked for, if the data folder allows it; else the folder's line; else the default."""
    lines = home.lines()
    newest = lines[-1] if lines else None
    if "neo4j_version" in settings.model_fields_set:
        load_lock(settings.neo4j_version)
        if newest is not None:
            _refuse_unfit(settings.neo4j_version, newest, home)
        return settings.neo4j_version
    if newest is None:
        return DEFAULT_NEO4J
    usable = [version for version in shipped_versions() if line_of(version) == line_of(newest.version)]
    if not usable or version_key(usable[-1]) < version_key(newest.version):
        raise LocalDbError(
            f"the data in {home.root} was written by Neo4j {newest.version}, and this kgsched brings "
            f"{', '.join(shipped_versions())}; install a newer kgsched, or set KGSCHED_HOME to another folder"
        )
    return usable[-1]


def _refuse_unfit(wanted: str, present: LineFolder, home: Home) -> None:
    written = present.version
    if version_key(wanted) < version_key(written):
        raise LocalDbError(
            f"the data in {home.root} was written by Neo4j {written}, which the older {wanted} cannot read; "
            f"unset KGSCHED_NEO4J_VERSION or set it to {written}, or set KGSCHED_HOME to another folder"
        )
    if line_of(wanted) != line_of(written):
        raise LocalDbError(
            f"the data in {home.root} is on the {line_of(written)} line of Neo4j and {wanted} was asked for; "
            f"take it over with `kgsched neo4j upgrade {wanted}` (it copies first), or unset "
            "KGSCHED_NEO4J_VERSION, or set KGSCHED_HOME to another folder"
        )

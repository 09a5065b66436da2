"""A class archive (AppCDS) of the installed server: made once, it saves a third to a half of every later start.

The JVM takes it only for the same Java, class path and garbage collector, and goes on without it otherwise; the
folder's name is a hash of these. See "Class Data Sharing" in the Java documentation.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from kgsched.errors import LocalDbError
from kgsched.localdb import conf, process
from kgsched.localdb.home import LineFolder, write_private
from kgsched.localdb.java import Java
from kgsched.localdb.ready import LogWatch, Probe, Progress, wait_ready
from kgsched.localdb.state import ServerState

DUMP_TIMEOUT = 120.0
KEPT = 3


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """The archive in one folder: made, failed, or not tried yet."""

    folder: Path

    @classmethod
    def of(cls, program: conf.Program, java: Java, base: Path) -> ClassArchive:
        parts = (java.version, str(_size_of_modules(java)), program.class_path, *conf.jvm_flags())
        digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        return cls(base / f"classes-{digest[:16]}")

    @property
    def settled(self) -> bool:
        """Whether there is nothing more to try."""
        return (self.folder / "made").exists() or (self.folder / "failed").exists()

    @property
    def flags(self) -> tuple[str, ...]:
        """JVM flags that use the archive; none when there is none."""
        return self._use if (self.folder / "made").exists() else ()

    @property
    def _use(self) -> tuple[str, ...]:
        return (f"-XX:SharedArchiveFile={self._base}:{self._app}", "-Xshare:auto")

    @property
    def _base(self) -> Path:
        return self.folder / "base.jsa"

    @property
    def _app(self) -> Path:
        return self.folder / "app.jsa"

    def make(self, program: conf.Program, probe: Probe, timeout: float, progress: Progress) -> None:
        """Dump the classes of one throw-away run. A failure is noted and only costs time at later starts."""
        progress("preparing faster starts (once, about 20 s)")
        try:
            self._discard_interrupted_run()
            self._dump_base(program)
            self._dump_run(program, probe, timeout)
            self._try(program)
        except (LocalDbError, OSError, subprocess.SubprocessError) as error:
            progress(f"no class archive, starts take a few seconds longer: {error}")
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / "failed").write_text(f"{error}\n", encoding="utf-8")
            return
        (self.folder / "made").touch()
        self._forget_old_ones()

    def _discard_interrupted_run(self) -> None:
        if found := process.find_server(self._training.path):
            process.stop(found[0])
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def _forget_old_ones(self) -> None:
        """An archive has 130 MB: keep those made last."""
        made = sorted(self.folder.parent.glob("classes-*/made"), key=lambda mark: mark.stat().st_mtime)
        for mark in made[:-KEPT]:
            shutil.rmtree(mark.parent)

    @property
    def _training(self) -> LineFolder:
        return LineFolder(self.folder / "training")

    def _dump_base(self, program: conf.Program) -> None:
        command = [str(program.java), "-Xshare:dump", "-XX:+UseSerialGC", f"-XX:SharedArchiveFile={self._base}"]
        subprocess.run(command, check=True, capture_output=True, timeout=DUMP_TIMEOUT, stdin=subprocess.DEVNULL)

    def _try(self, program: conf.Program) -> None:
        """A JVM that cannot use the archive says so, and goes on."""
        flags = (*conf.jvm_flags(), *self._use)
        command = [str(program.java), *flags, "-cp", program.class_path, "-version"]
        answer = subprocess.run(command, check=True, capture_output=True, text=True, timeout=DUMP_TIMEOUT)
        if "[cds" in answer.stdout:
            raise LocalDbError(f"the Java runtime cannot use what it wrote: {answer.stdout.strip()}")

    def _dump_run(self, program: conf.Program, probe: Probe, timeout: float) -> None:
        folder, instance = self._training, secrets.token_hex(8)
        folder.prepare()
        port = process.free_port()
        write_private(folder.path / "conf" / "neo4j.conf", program.configuration(folder.path, port))
        extra = (f"-XX:SharedArchiveFile={self._base}", f"-XX:ArchiveClassesAtExit={self._app}")
        watch = LogWatch.from_now(folder)
        command = replace(program, archive=(), options=(conf.QUICK_JIT,)).command(folder.path, instance, extra)
        pid = process.launch(command, folder.path, folder.console_log)
        uri = f"bolt://127.0.0.1:{port}"
        state = ServerState(uri, port, pid, instance, program.version, str(folder.path))
        try:
            wait_ready(state, watch, probe, timeout, lambda _: None)
        finally:
            process.stop(pid, patience=DUMP_TIMEOUT)  # the archive is written at the end
        if not self._app.exists():
            raise LocalDbError("the Java runtime wrote no archive")
        shutil.rmtree(folder.path)


def _size_of_modules(java: Java) -> int | str:
    """What the JVM compares too: copies of one Java, as every virtual environment has one, share an archive."""
    modules = java.path.parent.parent / "lib" / "modules"
    return modules.stat().st_size if modules.is_file() else str(java.path)

"""Real commands as subprocesses, in an environment of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kgsched.localdb import QUICK_JIT, ServerAddress

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
READY = "is ready"
PATIENCE = 60.0


def environment(address: ServerAddress | None = None, **more: str) -> dict[str, str]:
    """A clean environment: the given database, nothing of the caller's kgsched settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KGSCHED_", "KG_", "PIPELINE_"))}
    shared = {name: os.environ[name] for name in ("KGSCHED_CACHE", "KGSCHED_NEO4J_VERSION") if name in os.environ}
    shared |= {"KGSCHED_NEO4J_JAVA_OPTIONS": QUICK_JIT}
    graph = {}
    if address is not None:
        graph = {
            "KGSCHED_NEO4J_URI": address.uri,
            "KGSCHED_NEO4J_USER": address.user,
            "KGSCHED_NEO4J_PASSWORD": address.password,
        }
    return {**kept, **shared, **graph, "PYTHONPATH": str(ROOT), "KGSCHED_LOG_FORMAT": "json", **more}


class Process:
    """A long-lived command; its lines are kept, and can be waited for."""

    def __init__(self, command: list[str], env: Mapping[str, str], folder: Path) -> None:
        self.lines: list[str] = []
        self._news = threading.Condition()
        self.popen = subprocess.Popen(
            command,
            env=dict(env),
            cwd=folder,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._follow, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self.popen.pid

    def wait_for(self, text: str, patience: float = PATIENCE) -> str:
        """The first line that holds `text`; fails with all lines when there is none in time, or the process ends."""

        def line() -> str | None:
            return next((one for one in self.lines if text in one), None)

        with self._news:
            self._news.wait_for(lambda: line() is not None or not self._reader.is_alive(), patience)
            found = line()
        assert found is not None, f"no {text!r} in\n" + "".join(self.lines)
        return found

    def send(self, number: int) -> None:
        os.kill(self.pid, number)

    def end(self, number: int = signal.SIGTERM, patience: float = PATIENCE) -> int:
        """Send a signal and return the exit code."""
        if self.popen.poll() is None:
            self.send(number)
        try:
            code = self.popen.wait(patience)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("it does not end:\n" + "".join(self.lines)) from None
        self._reader.join(5)
        return code

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        if self.popen.poll() is None:
            self.send(signal.SIGKILL)
        self.popen.wait()
        self._reader.join(5)

    def _follow(self) -> None:
        assert self.popen.stdout is not None
        for line in self.popen.stdout:
            with self._news:
                self.lines.append(line)
                self._news.notify_all()
        self.popen.stdout.close()
        with self._news:
            self._news.notify_all()


class Commands:
    """Runs kgsched's commands in one environment and folder."""

    def __init__(self, env: Mapping[str, str], folder: Path, bin_: Path = BIN) -> None:
        self.env, self.folder, self._bin = dict(env), folder, bin_

    def run(self, *words: str, code: int = 0, patience: float = 120.0, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end and check its exit code."""
        program, *arguments = words
        done = subprocess.run(
            [str(self._bin / program), *arguments],
            env={**self.env, **more},
            cwd=self.folder,
            text=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=patience,
            check=False,
        )
        assert done.returncode == code, f"{words} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        return done

    @contextmanager
    def daemon(self, *words: str, command: str = "daemon", patience: float = 120.0, **more: str) -> Iterator[Process]:
        """A daemon that is ready, killed at the end of the block if it still runs."""
        process = Process([str(self._bin / "kgsched"), command, *words], {**self.env, **more}, self.folder)
        try:
            process.wait_for(READY, patience)
            yield process
        finally:
            process.kill()


def until(condition: object, patience: float = PATIENCE, pause: float = 0.1) -> None:
    """Poll a condition until it is true; fails when it does not become so in time."""
    assert callable(condition)
    end = time.monotonic() + patience
    while not (answer := condition()):
        assert time.monotonic() < end, f"still not so after {patience} s: {answer!r}"
        time.sleep(pause)

"""Starts, kills and replaces processes, and reads their logs."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.store.crowd.actor import GO, STOP, Address, Role, live

DEADLINE = 120.0
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.store.crowd.actor", "tests.store.crowd.roles", "tests.store.crowd.diamonds"])


class Crowd:
    """Processes that play roles. Leaving the block kills what still runs."""

    def __init__(self, address: Address, folder: Path, roles: Sequence[Role]) -> None:
        self._address, self.folder, self._roles = address, folder, list(roles)
        self._processes: list[BaseProcess] = []
        self.kills = 0

    def __enter__(self) -> Crowd:
        self._processes = [self._start(place) for place in range(len(self._roles))]
        self._until(lambda: self._count("ready") >= len(self._roles), "not all processes came up")
        (self.folder / GO).touch()
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            if process.is_alive():
                _kill(process)
            process.join()
            assert process.exitcode in (0, -signal.SIGKILL), f"{process.name}: {process.exitcode}"

    def replace(self, place: int) -> None:
        """Kill one process with SIGKILL and start another in its place."""
        assert self._processes[place].is_alive(), f"{self._processes[place].name} died by itself"
        _kill(self._processes[place])
        self._processes[place].join()
        self.kills += 1
        self._processes[place] = self._start(place)

    def stop(self) -> None:
        """Ask all to leave, and wait."""
        (self.folder / STOP).touch()
        for process in self._processes:
            process.join(DEADLINE)
            assert process.exitcode == 0, f"{process.name}: {process.exitcode}"

    def wait(self) -> None:
        """Wait until all have left by themselves."""
        for process in self._processes:
            process.join(DEADLINE)
            assert process.exitcode == 0, f"{process.name}: {process.exitcode}"

    def lines(self, kind: str) -> Iterator[list[str]]:
        """Words of the log lines of a kind; a line that a kill cut short is left out."""
        for path in sorted(self.folder.glob("*.log")):
            for line in path.read_text().splitlines(keepends=True):
                words = line.rstrip("\n").split(" ")
                if words[0] == kind and line.endswith("\n"):
                    yield words[1:]

    @property
    def errors(self) -> list[str]:
        """Errors that reached a caller."""
        return [" ".join(words) for words in self.lines("error")]

    @property
    def quick_retries(self) -> Counter[str]:
        """What the client tried again by itself, by code and statement."""
        total: Counter[str] = Counter()
        for path in self.folder.glob("*.log"):
            last = [line for line in path.read_text().splitlines() if line.startswith("quick ")][-1:]
            for line in last:
                total.update(json.loads(line.removeprefix("quick ")))
        return total

    def _start(self, place: int) -> BaseProcess:
        role = self._roles[place]
        name = f"{place}-{role.__name__}"
        process = _context.Process(target=live, args=(role, self._address, self.folder, name), name=name, daemon=True)
        process.start()
        return process

    def _count(self, kind: str) -> int:
        return sum(1 for _ in self.lines(kind))

    @staticmethod
    def _until(condition: object, complaint: str) -> None:
        assert callable(condition)
        end = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < end, complaint
            time.sleep(0.02)


def _kill(process: BaseProcess) -> None:
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)

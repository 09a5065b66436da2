"""Start other processes, wait for what they do, look into the graph."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from neo4j import GraphDatabase

from kgsched.localdb import ManagedServer, ServerAddress
from kgsched.store import probe
from tests.server import local_settings

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120.0


class Child:
    """A process that runs tests/localdb/child.py."""

    def __init__(self, *words: str | Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.localdb.child", *map(str, words)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def line(self) -> str:
        """The next line that it prints; fails the test when it ended without one."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        assert line, f"the child ended with {self.process.wait(PATIENCE)}"
        return line

    def address(self) -> dict[str, Any]:
        return dict(json.loads(self.line()))

    def leave(self) -> None:
        """Let it end by itself."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(PATIENCE) == 0

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()


@contextmanager
def child(*words: str | Path) -> Iterator[Child]:
    one = Child(*words)
    try:
        yield one
    finally:
        one.close()


def until(look: Callable[[], object], what: str) -> None:
    """Poll `look` until it is true."""
    deadline = time.monotonic() + PATIENCE
    while not look():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.02)


def managed(home: Path, **settings: object) -> ManagedServer:
    return ManagedServer(local_settings(home, **settings), probe)


def query(address: ServerAddress, cypher: str) -> list[Any]:
    """The first column."""
    with GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        records, _, _ = driver.execute_query(cypher, database_=address.database)
    return [record[0] for record in records]


def kill_server(pid: int) -> None:
    server = psutil.Process(pid)
    server.kill()
    server.wait(PATIENCE)

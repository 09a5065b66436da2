"""A small Maven mirror on loopback, with invented jars that are served well, badly, or not to the end."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from kgsched.localdb.lockfile import Jar

CONTENT = {f"org/example/part{n}/1/part{n}-1.jar": bytes([n]) * (20_000 + n) for n in range(12)}
JARS = tuple(Jar(path, len(content), hashlib.sha256(content).hexdigest()) for path, content in CONTENT.items())


class Mirror(ThreadingHTTPServer):
    """Counts what is asked for; `stall`, `corrupt`, `cut` and `gone` name the paths that are served badly."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: Counter[str] = Counter()
        self.stall: set[str] = set()
        self.corrupt: set[str] = set()
        self.gone: set[str] = set()
        self.cut_once: set[str] = set()
        self.stalled, self.go_on = threading.Event(), threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Mirror
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.path.lstrip("/")
        self.server.requests[path] += 1
        content = CONTENT[path]
        if path in self.server.gone:
            self.send_error(404)
            return
        if path in self.server.corrupt:
            content = b"x" + content[1:]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        half = len(content) // 2
        self.wfile.write(content[:half])
        if path in self.server.cut_once:
            self.server.cut_once.discard(path)
            self.close_connection = True
            return
        if path in self.server.stall:
            self.wfile.flush()
            self.server.stalled.set()
            self.server.go_on.wait()
        self.wfile.write(content[half:])

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:  # a client that was killed
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Silent: what was asked for is counted instead."""


@contextmanager
def serve() -> Iterator[Mirror]:
    mirror = Mirror()
    thread = threading.Thread(target=mirror.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield mirror
    finally:
        mirror.go_on.set()
        mirror.shutdown()
        thread.join()
        mirror.server_close()


def write_lock(path: Path) -> Path:
    """The invented jars as a lock file."""
    path.write_text(json.dumps([{"path": j.path, "size": j.size, "sha256": j.sha256} for j in JARS]))
    return path

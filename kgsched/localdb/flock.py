"""Advisory file locks between processes; the kernel frees them when their holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_held: set[int] = set()  # a forked child would keep what its parent locked
POLL = 0.05
SAY_AFTER = 1.0
SAY_AGAIN = 15.0


@contextmanager
def exclusive(path: Path, what: str, progress: Callable[[str], None]) -> Iterator[None]:
    """Hold `path` alone. Waits as long as its holder lives, and says so: each step under a lock is bounded."""
    descriptor = _open(path)
    try:
        _wait(descriptor, path, what, progress)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        _close(descriptor)


@contextmanager
def shared(path: Path) -> Iterator[None]:
    """Hold `path` together with others."""
    descriptor = _open(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        _close(descriptor)


def is_held(path: Path) -> bool:
    """Whether any process holds `path`, shared or alone."""
    if not path.exists():
        return False
    descriptor = _open(path)
    try:
        return not _try(descriptor)
    finally:
        _close(descriptor)


def _open(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    _held.add(descriptor)
    return descriptor


def _close(descriptor: int) -> None:
    _held.discard(descriptor)
    os.close(descriptor)


def _let_go_in_child() -> None:
    for descriptor in tuple(_held):
        _close(descriptor)


os.register_at_fork(after_in_child=_let_go_in_child)


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(descriptor: int, path: Path, what: str, progress: Callable[[str], None]) -> None:
    say_at = time.monotonic() + SAY_AFTER
    while not _try(descriptor):
        if time.monotonic() >= say_at:
            holder = path.read_text(encoding="utf-8", errors="replace").strip()
            progress(f"waiting for process {holder or '?'}, which is busy with {what}")
            say_at = time.monotonic() + SAY_AGAIN
        time.sleep(POLL)

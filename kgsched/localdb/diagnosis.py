"""Turn what a server that did not come up left in its log into a message that says what to do."""

from __future__ import annotations

import re
from pathlib import Path

from kgsched.errors import LocalDbError

TAIL_BYTES = 64 * 1024
SHOWN = 12

# what the log says, what it means, what to do; the first that is found counts
CAUSES = (
    (
        r"FileLockException|locked by another process",
        "its data folder {folder} is in use by another Neo4j",
        "stop that one, or set KGSCHED_HOME to another folder",
    ),
    (
        r"No space left on device|not enough (?:disk )?space",
        "the disk of {folder} is full",
        "make room, or set KGSCHED_HOME to a folder on another disk",
    ),
    (
        r"exceeds physical memory|Could not reserve enough space|insufficient memory|Cannot allocate memory"
        r"|OutOfMemoryError|Initial heap size set to a larger value|Too small maximum heap",
        "the memory does not fit",
        "end other programs, or set KGSCHED_NEO4J_HEAP (256m is the least) and KGSCHED_NEO4J_PAGECACHE",
    ),
    (r"Invalid maximum heap size", "KGSCHED_NEO4J_HEAP is not a size", "give it like 512m or 2g"),
    (
        r"Permission denied|AccessDeniedException|Read-only file system",
        "it may not write to {folder}",
        "give the folder to this user, or set KGSCHED_HOME to another",
    ),
    (
        r"UnsupportedClassVersionError|Unsupported Java",
        "this Java does not fit",
        "unset KGSCHED_JAVA and JAVA_HOME to use the one that comes along",
    ),
    (r"Unrecognized setting", "it does not know a setting", "report this"),
    (
        r"[Ss]tore version|StoreVersion|newer version|unsupported.{0,40}store",
        "it cannot read the data in {folder}",
        "run the version of Neo4j that wrote it (KGSCHED_NEO4J_VERSION), or restore a backup",
    ),
)
PORT_TAKEN = re.compile(r"Address already in use")
TELLING = re.compile(r"ERROR|Caused by|Exception|Error occurred|FATAL")


class PortTaken(LocalDbError):
    """Another program took the port between the look and the start."""


def died(folder: Path, log: Path, start: int) -> LocalDbError:
    """Why the server ended while it was starting; `start` is where in `log` this run begins."""
    text = _read(log, start)
    if PORT_TAKEN.search(text):
        return PortTaken("the port of the managed Neo4j was taken by another program")
    for pattern, meaning, remedy in CAUSES:
        if re.search(pattern, text):
            reason = meaning.format(folder=folder)
            return LocalDbError(f"the managed Neo4j did not start: {reason}; {remedy}{_quote(text, log)}")
    reason = "it ended with an error" if TELLING.search(text) else "it ended without a word (killed, or out of memory?)"
    return LocalDbError(f"the managed Neo4j did not start: {reason}; see {log}{_quote(text, log)}")


def too_slow(seconds: float, folder: Path, log: Path, start: int) -> LocalDbError:
    return LocalDbError(
        f"the managed Neo4j in {folder} was not ready after {seconds:.0f} s and was stopped; the machine may be "
        f"busy or its disk full; KGSCHED_NEO4J_READY_TIMEOUT (seconds) gives it longer{_quote(_read(log, start), log)}"
    )


def tail(log: Path, lines: int) -> list[str]:
    """The last lines of a log, oldest first; empty when there is no log."""
    if not log.exists():
        return []
    size = log.stat().st_size
    return _read(log, max(0, size - max(TAIL_BYTES, lines * 400))).splitlines()[-lines:]


def _read(log: Path, start: int) -> str:
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(start, log.stat().st_size - TAIL_BYTES))
        return file.read().decode("utf-8", errors="replace")


def _quote(text: str, log: Path) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("at ")]
    if not lines:
        return ""
    return f"\nlast lines of {log}:\n" + "\n".join(f"  {line[:300]}" for line in lines[-SHOWN:])

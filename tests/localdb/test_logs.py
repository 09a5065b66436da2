"""What is read out of a server's logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgsched.localdb.diagnosis import PortTaken, died, tail
from kgsched.localdb.home import LineFolder
from kgsched.localdb.ready import LogWatch


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("Caused by: FileLockException: Lock file has been locked by another process", "in use by another Neo4j"),
        ("java.io.IOException: No space left on device", "the disk of .* is full"),
        ("Invalid memory configuration - exceeds physical memory.", "memory does not fit.*KGSCHED_NEO4J_HEAP"),
        ("java.nio.file.AccessDeniedException: /data", "may not write"),
        ("ERROR something new", "ended with an error; see .*console.log"),
        ("", "ended without a word"),
    ],
)
def test_a_cause_in_the_log_becomes_a_remedy(tmp_path: Path, line: str, meaning: str) -> None:
    log = tmp_path / "console.log"
    before = "ERROR from an earlier run: No space left on device\n"
    log.write_text(before + line + "\n")
    with pytest.raises(Exception, match=meaning):
        raise died(tmp_path, log, len(before))


def test_a_port_taken_in_between_is_told_apart(tmp_path: Path) -> None:
    log = tmp_path / "console.log"
    log.write_text("bind(..) failed with error(-98): Address already in use\n")
    assert isinstance(died(tmp_path, log, 0), PortTaken)


@pytest.mark.parametrize(
    "line",
    [
        "INFO  [o.n.k.r.Recovery] [neo4j/1]  {percent}% completed\n",
        '{{"level":"INFO","category":"o.n.k.r.Recovery","message":"[neo4j/1]  {percent}% completed"}}\n',
    ],
    ids=["5", "2026"],
)
def test_signs_of_recovery_are_read_as_they_come(tmp_path: Path, line: str) -> None:
    folder = LineFolder(tmp_path)
    folder.debug_log.parent.mkdir()
    folder.debug_log.write_text(line.format(percent=90))
    watch = LogWatch.from_now(folder)
    assert watch.recovery() is None
    with folder.debug_log.open("a") as log:
        log.write("Recovery required from position 5\n")
        log.flush()
        assert watch.recovery() == ""
        log.write(line.format(percent=10) + line.format(percent=20))
        log.flush()
        assert watch.recovery() == "20% completed"
        log.write("index population 30% completed\n")
    assert watch.recovery() is None


def test_the_tail_is_the_last_lines_oldest_first(tmp_path: Path) -> None:
    log = tmp_path / "console.log"
    assert tail(log, 3) == []
    log.write_text("".join(f"line {n}\n" for n in range(50_000)))
    assert tail(log, 2) == ["line 49998", "line 49999"]

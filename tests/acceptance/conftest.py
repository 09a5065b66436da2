"""Commands against the session's database, emptied for each test, and the feed's invented papers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kgsched.demo.arxiv_server import ArxivServer
from kgsched.localdb import ServerAddress
from tests.acceptance.commands import Commands, environment
from tests.store.worlds import World


@pytest.fixture
def arxiv() -> Iterator[ArxivServer]:
    with ArxivServer() as server:
        yield server


@pytest.fixture
def commands(neo4j_server: ServerAddress, world: World, arxiv: ArxivServer, tmp_path: Path) -> Commands:
    """Commands on an empty graph, with the invented papers for arXiv."""
    feed = {f"KGSCHED_{name.upper()}": str(value) for name, value in arxiv.settings().items()}
    (tmp_path / "none.yml").write_text("schedules: {}\n")
    timing = {"KGSCHED_DRAIN": "2", "KGSCHED_POLL": "0.1"}
    files = {"NOTES": str(tmp_path / "notes"), "GO": str(tmp_path / "go"), "HOME": str(tmp_path)}
    (tmp_path / "notes").touch()
    return Commands(environment(neo4j_server, **feed, **timing, **files), tmp_path)


@pytest.fixture
def hasty(commands: Commands) -> Commands:
    """The same with short leases, so that a test of a crash takes seconds."""
    timing = {"KGSCHED_LEASE": "10", "KGSCHED_GRACE": "1", "KGSCHED_BEAT": "1"}
    return Commands({**commands.env, **timing}, commands.folder)

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgsched.localdb import ManagedServer
from kgsched.store import probe
from tests.localdb.mirror import Mirror, serve
from tests.server import local_settings


@pytest.fixture
def mirror() -> Iterator[Mirror]:
    with serve() as running:
        yield running


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """An empty data folder; a server that a test leaves there is stopped."""
    folder = tmp_path / "home"
    yield folder
    ManagedServer(local_settings(folder), probe).stop(force=True)


@pytest.fixture(scope="module")
def used_home() -> Iterator[Path]:
    """A data folder that the tests of a module share, in whatever state the last one left the server."""
    with tempfile.TemporaryDirectory(prefix="kgsched-home-") as folder:
        yield Path(folder)
        ManagedServer(local_settings(Path(folder)), probe).stop(force=True)

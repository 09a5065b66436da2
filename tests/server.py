"""The database that the tests use: a managed server of their own, or the one KGSCHED_TEST_NEO4J_URI names."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgsched.config import Settings, load_settings
from kgsched.localdb import QUICK_JIT, ManagedServer, ServerAddress
from kgsched.store import probe

# tests empty the graph all the time, which is no reason to plan the same statements anew, or to sample its indexes
SETTINGS = "dbms.cypher.min_replan_interval=1h; db.index_sampling.background_enabled=false"


def local_settings(home: Path, **more: object) -> Settings:
    """Settings of a managed server in `home`, of the version that the test run is for."""
    version = os.environ.get("KGSCHED_NEO4J_VERSION")
    return load_settings(
        home=home, **{"neo4j_version": version, "neo4j_java_options": QUICK_JIT, "neo4j_settings": SETTINGS, **more}
    )


@pytest.fixture(scope="session")
def neo4j_server() -> Iterator[ServerAddress]:
    """A server for the whole session; with KGSCHED_TEST_NEO4J_URI (_USER, _PASSWORD) that one instead."""
    if uri := os.environ.get("KGSCHED_TEST_NEO4J_URI"):
        yield given_server(uri)
        return
    with tempfile.TemporaryDirectory(prefix="kgsched-test-", ignore_cleanup_errors=True) as folder:
        lines: list[str] = []
        with ManagedServer(local_settings(Path(folder)), probe, lines.append).hold() as address:
            yield address


def given_server(uri: str) -> ServerAddress:
    return ServerAddress(
        uri=uri,
        user=os.environ.get("KGSCHED_TEST_NEO4J_USER", "neo4j"),
        password=os.environ.get("KGSCHED_TEST_NEO4J_PASSWORD", ""),
        database=os.environ.get("KGSCHED_TEST_NEO4J_DATABASE", "neo4j"),
        instance="given",
        pid=0,
        version=os.environ.get("KGSCHED_NEO4J_VERSION", ""),
        home=Path(),
        started_by_us=False,
    )

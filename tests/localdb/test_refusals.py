"""What cannot work is refused with what to do about it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from kgsched.config import load_settings
from kgsched.errors import LocalDbError
from kgsched.localdb.home import Home, choose_version
from kgsched.localdb.process import find_server
from tests.localdb.support import child, managed
from tests.server import local_settings


def written_by(home: Path, version: str) -> Path:
    folder = home / version.partition(".")[0]
    folder.mkdir(parents=True)
    (folder / "version").write_text(f"{version}\n")
    return folder


def test_no_network_and_an_empty_cache(home: Path, tmp_path: Path) -> None:
    server = managed(home, cache=tmp_path / "cache", maven_url="http://127.0.0.1:1")
    with pytest.raises(LocalDbError, match="KGSCHED_MAVEN_URL"):
        server.ensure()
    assert not home.exists()


def test_a_port_that_is_taken(home: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(LocalDbError, match=rf"port {port} of 127\.0\.0\.1 .* is taken"):
            managed(home, neo4j_port=port).ensure()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LocalDbError, match=r"cannot make the data folder .*KGSCHED_HOME"):
        managed(tmp_path / "file" / "home").ensure()


def test_a_folder_that_another_neo4j_uses(home: Path) -> None:
    version = choose_version(local_settings(home), Home(home))
    store_lock = home / version.partition(".")[0] / "data" / "databases" / "store_lock"
    store_lock.parent.mkdir(parents=True)
    store_lock.touch()
    with child("lock", store_lock) as other:
        assert other.line() == "locked"
        with pytest.raises(LocalDbError, match="locked by another Neo4j"):
            managed(home).ensure()


def test_too_little_memory_shows_the_log(home: Path) -> None:
    with pytest.raises(
        LocalDbError, match=r"(?s)memory does not fit.*KGSCHED_NEO4J_HEAP.*last lines of .*console\.log"
    ):
        managed(home, neo4j_heap="1k").ensure()
    assert not managed(home).status().running


def test_a_server_that_dies_shows_its_last_words(home: Path) -> None:
    with pytest.raises(LocalDbError, match=r"(?s)did not start.*server\.memory\.pagecache\.size"):
        managed(home, neo4j_pagecache="plenty").ensure()
    assert any("pagecache" in line for line in managed(home).log_tail(100))


def test_a_server_that_is_not_ready_in_time_is_stopped(home: Path) -> None:
    with pytest.raises(LocalDbError, match=r"not ready after .*KGSCHED_NEO4J_READY_TIMEOUT"):
        managed(home, neo4j_ready_timeout=0.2).ensure()
    assert find_server(managed(home).status().data) is None


def test_an_older_line_on_a_newer_folder(home: Path) -> None:
    written_by(home, "2026.08.1")
    with pytest.raises(LocalDbError, match=r"written by Neo4j 2026\.08\.1, which the older 5\.26\.30 cannot read"):
        managed(home, neo4j_version="5.26.30").ensure()


def test_a_newer_line_on_an_older_folder_names_the_upgrade(home: Path) -> None:
    written_by(home, "5.26.30")
    with pytest.raises(LocalDbError, match=r"kgsched neo4j upgrade 2026\.08\.1"):
        managed(home, neo4j_version="2026.08.1").ensure()


def test_the_folder_decides_when_no_version_is_asked_for(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KGSCHED_NEO4J_VERSION", raising=False)
    assert choose_version(load_settings(home=home), Home(home)) == "5.26.30"
    written_by(home, "2026.08.1")
    assert choose_version(load_settings(home=home), Home(home)) == "2026.08.1"
    written_by(home, "2031.01.0")
    with pytest.raises(LocalDbError, match="install a newer kgsched"):
        choose_version(load_settings(home=home), Home(home))


def test_data_without_its_password(home: Path) -> None:
    version = choose_version(local_settings(home), Home(home))
    (home / version.partition(".")[0] / "data" / "databases" / "system").mkdir(parents=True)
    with pytest.raises(LocalDbError, match="password is gone"):
        managed(home).ensure()

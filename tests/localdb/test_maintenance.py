"""Backup, restore, upgrade, destroy: a node goes through all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgsched.errors import LocalDbError
from kgsched.localdb.lockfile import load_lock
from tests.localdb.support import managed, query

OLD, NEW = "5.26.30", "2026.08.1"
LOOK = "MATCH (n:Node) RETURN n.name ORDER BY n.name"


@pytest.mark.timeout(400)
def test_data_survives_backup_restore_and_upgrade(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KGSCHED_NEO4J_VERSION", raising=False)
    server = managed(home, neo4j_version=OLD)
    address = server.start()
    query(address, "CREATE (:Node {name: 'first'})")

    file = server.backup(tmp_path)
    assert file.parent == tmp_path
    assert file.stat().st_mode & 0o077 == 0
    assert server.uri() == address.uri
    assert server.status().pinned
    query(address, "CREATE (:Node {name: 'second'})")

    replaced = server.restore(file)
    assert replaced is not None
    assert (replaced / "data").is_dir()
    assert server.uri() == address.uri
    assert query(server.ensure(), LOOK) == ["first"]

    kept = server.upgrade(NEW)
    assert (kept / "version").read_text().strip() == OLD
    follower = managed(home)  # no version asked for: the folder's line
    after = follower.ensure()
    assert not after.started_by_us
    assert (after.version, after.uri) == (NEW, address.uri)
    assert query(after, LOOK) == ["first"]
    with pytest.raises(LocalDbError, match="cannot read"):
        server.ensure()

    follower.destroy()
    assert not follower.status().running
    assert {path.name for path in home.iterdir()} <= {"control.lock", "holders.lock"}


def test_a_failed_upgrade_leaves_the_old_data_in_use(home: Path) -> None:
    server = managed(home, neo4j_version=OLD, neo4j_ready_timeout=0.2)
    folder = home / "5"
    (folder / "data").mkdir(parents=True)
    for name, text in (("version", OLD), ("password", "unused-password"), ("data/file", "content")):
        (folder / name).write_text(text)
    with pytest.raises(LocalDbError, match=f"upgrade failed, the data of Neo4j {OLD} is as it was"):
        server.upgrade(NEW)
    assert (folder / "data" / "file").read_text() == "content"
    assert not (home / "2026").exists()
    assert load_lock(NEW)


def test_an_upgrade_goes_forward_only(home: Path) -> None:
    with pytest.raises(LocalDbError, match="no managed Neo4j"):
        managed(home).upgrade(NEW)
    (home / "2026").mkdir(parents=True)
    (home / "2026" / "version").write_text(NEW)
    with pytest.raises(LocalDbError, match="is not newer"):
        managed(home, neo4j_version=NEW).upgrade(OLD)


def test_what_is_no_backup_is_refused(home: Path, tmp_path: Path) -> None:
    server = managed(home)
    with pytest.raises(LocalDbError, match="there is no backup file"):
        server.restore(tmp_path / "none.tar.gz")
    (tmp_path / "text.tar.gz").write_text("no archive")
    with pytest.raises(LocalDbError, match="cannot be read as a backup"):
        server.restore(tmp_path / "text.tar.gz")
    assert not home.exists()

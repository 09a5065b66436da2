"""One server for many processes: started once, restarted when it dies, stopped by the last that leaves."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import psutil
import pytest

from kgsched.errors import LocalDbError
from kgsched.localdb import flock
from tests.localdb.support import child, kill_server, managed, query, until

pytestmark = pytest.mark.processes


def test_two_first_starts_at_once_share_one_server(home: Path) -> None:
    with child("ensure", home) as one, child("ensure", home) as other:
        first, second = one.address(), other.address()
    assert first["pid"] == second["pid"]
    assert first["uri"] == second["uri"]
    assert sorted([first["started"], second["started"]]) == [False, True]
    assert psutil.pid_exists(first["pid"])


def test_a_start_goes_on_when_its_starter_was_killed(used_home: Path) -> None:
    server = managed(used_home)
    server.stop(force=True)
    note = used_home / "server.json"
    with child("ensure", used_home) as starter:
        until(note.exists, "the server process was started")
        pid = json.loads(note.read_text())["pid"]
        starter.kill()
    note.unlink()  # as if it had been killed before it could note anything
    address = server.ensure()
    assert address.pid == pid
    assert query(address, "RETURN 1") == [1]


def test_a_killed_server_comes_back_with_its_data_at_the_same_address(used_home: Path) -> None:
    server = managed(used_home)
    with server.hold() as before:
        query(before, "CREATE (n:Kept {name: 'acknowledged'})")
        kill_server(before.pid)
        assert not server.status().running
        after = server.ensure()
        assert after.started_by_us
        assert (after.uri, after.password) == (before.uri, before.password)
        assert after.instance != before.instance
        assert query(after, "MATCH (n:Kept) RETURN n.name") == ["acknowledged"]
    assert not psutil.pid_exists(after.pid)


def test_the_last_holder_that_leaves_stops_the_server(used_home: Path) -> None:
    server = managed(used_home)
    with child("hold", used_home) as killed, child("hold", used_home) as first:
        pid = first.address()["pid"]
        killed.address()
        assert set(server.status().held_by) == {killed.process.pid, first.process.pid}
        with pytest.raises(LocalDbError, match=f"used by kgsched process .*{first.process.pid}"):
            server.stop()
        with child("hold", used_home) as last:
            assert last.address() == {"uri": server.uri(), "pid": pid, "started": False}
            killed.kill()
            first.leave()
            assert query(server.ensure(), "RETURN 1") == [1]
            last.leave()
    until(lambda: not psutil.pid_exists(pid), "the server ended")
    assert not server.status().running


def test_a_pinned_server_outlives_its_holders(used_home: Path) -> None:
    server = managed(used_home)
    pinned = server.start(pin=True)
    with server.hold() as held:
        assert held.pid == pinned.pid
    assert server.status().pinned
    assert query(server.ensure(), "RETURN 1") == [1]
    assert server.stop()
    assert not psutil.pid_exists(pinned.pid)
    assert not server.stop()
    with pytest.raises(LocalDbError, match="does not run"):
        server.uri()


def test_a_port_that_another_program_took_meanwhile_is_given_up(used_home: Path) -> None:
    server = managed(used_home)
    server.stop(force=True)
    data = server.status().data
    data.mkdir(parents=True, exist_ok=True)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        (data / "port").write_text(f"{taken}\n")
        address = server.ensure()
        assert not address.uri.endswith(f":{taken}")
        assert query(address, "RETURN 1") == [1]


def test_the_class_archive_is_taken(used_home: Path) -> None:
    address = managed(used_home).ensure()
    assert any(word.startswith("-XX:SharedArchiveFile=") for word in psutil.Process(address.pid).cmdline())
    assert "[cds" not in (address.home / "console.log").read_text()


def test_files_of_the_server_are_for_this_user_alone(used_home: Path) -> None:
    address = managed(used_home).ensure()
    for path in (address.home / "password", used_home / "server.json", address.home / "conf" / "neo4j.conf"):
        assert path.stat().st_mode & 0o077 == 0, path
    assert (address.home / "data").stat().st_mode & 0o077 == 0
    assert address.password not in repr(address)
    assert address.password not in " ".join(psutil.Process(address.pid).cmdline())


def test_the_server_listens_on_loopback_only_and_reads_no_files(used_home: Path) -> None:
    address = managed(used_home).ensure()
    listening = [
        one.laddr.ip.removeprefix("::ffff:")
        for one in psutil.Process(address.pid).net_connections()
        if one.status == psutil.CONN_LISTEN
    ]
    assert listening == ["127.0.0.1"]
    with pytest.raises(Exception, match="allow_csv_import_from_file_urls"):
        query(address, "LOAD CSV FROM 'file:///etc/hostname' AS line RETURN line")


def test_a_forked_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    read, write = os.pipe()
    with flock.shared(path):
        child = os.fork()
        if child == 0:
            os.close(write)
            os.read(read, 1)
            os._exit(0)
    try:
        until(lambda: not flock.is_held(path), "lock let go")
    finally:
        os.close(write)
        os.waitpid(child, 0)
        os.close(read)

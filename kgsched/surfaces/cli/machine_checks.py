"""What the doctor looks at without the graph: Python, Java, the cache, the managed server."""

from __future__ import annotations

import platform
import shutil
import sys
from pathlib import Path

from kgsched.config import Settings
from kgsched.errors import KgschedError
from kgsched.localdb import ManagedServer, ServerStatus
from kgsched.localdb.install import installed
from kgsched.localdb.java import find_java
from kgsched.localdb.lockfile import line_of
from kgsched.operations.doctor import Finding, Level
from kgsched.store import probe

ROOM = 1 << 30


def examine(settings: Settings) -> tuple[list[Finding], bool]:
    """Findings, and whether there is a server to ask."""
    findings = [_python()]
    if settings.neo4j_uri:
        findings.append(Finding("server", Level.OK, f"your own, at {settings.neo4j_uri}"))
        return findings, True
    try:
        status = ManagedServer(settings, probe).status()
    except KgschedError as error:
        return [*findings, Finding("server", Level.FAIL, str(error))], False
    findings += [_java(settings, status.version), _cache(settings, status), _room(status)]
    if status.ready:
        memory = f", {status.memory / 1e6:.0f} MB of memory" if status.memory else ""
        return [*findings, Finding("server", Level.OK, f"runs at {status.uri}{memory}")], True
    remedy = "`kgsched daemon` starts it, or `kgsched neo4j start`; its log: " + str(status.log)
    state = "is starting" if status.running else "does not run"
    return [*findings, Finding("server", Level.FAIL, f"the managed Neo4j {state}", remedy)], False


def _python() -> Finding:
    found = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info < (3, 11):  # noqa: UP036 - a checkout can be run by any Python
        return Finding("python", Level.FAIL, found, "use Python 3.11 or later")
    return Finding("python", Level.OK, found)


def _java(settings: Settings, version: str) -> Finding:
    try:
        java = find_java(settings, line_of(version))
    except KgschedError as error:
        return Finding("java", Level.FAIL, str(error), "unset KGSCHED_JAVA to use the one that comes along")
    return Finding("java", Level.OK, f"{java.version} from {java.source}")


def _cache(settings: Settings, status: ServerStatus) -> Finding:
    if not installed(settings, status.version):
        remedy = "the first start downloads it; that needs the network, or KGSCHED_MAVEN_URL"
        return Finding("cache", Level.WARN, f"Neo4j {status.version} is not in {settings.cache} yet", remedy)
    return Finding("cache", Level.OK, f"Neo4j {status.version} in {settings.cache}")


def _room(status: ServerStatus) -> Finding:
    place = next(path for path in (status.home, *Path(status.home).parents) if path.exists())
    free = shutil.disk_usage(place).free
    found = f"{free / 1e9:.1f} GB free at {status.home}; {status.data_size / 1e6:.0f} MB used"
    if free < ROOM:
        return Finding(
            "disk", Level.FAIL, found, "make room, or set KGSCHED_HOME to another disk; Neo4j hangs on a full one"
        )
    return Finding("disk", Level.OK, found)

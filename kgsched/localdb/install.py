"""Install a server: its jars, and a class archive that makes every later start faster."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kgsched.config import Settings
from kgsched.errors import LocalDbError
from kgsched.localdb import conf, flock
from kgsched.localdb.archive import ClassArchive
from kgsched.localdb.java import find_java
from kgsched.localdb.lockfile import Jar, line_of, load_lock, missing
from kgsched.localdb.ready import Probe, Progress

LICENCE = (
    "kgsched downloads the unmodified Neo4j Community, free software under the GPLv3; "
    "it runs as a process of its own and is no part of kgsched"
)


def install(settings: Settings, version: str, probe: Probe, progress: Progress) -> conf.Program:
    """The program to run for `version`, after downloading what is missing. Needs no network when all is there."""
    jars = load_lock(version)
    java = find_java(settings, line_of(version))
    base = settings.cache / "neo4j" / version
    folder = install_jars(jars, base, settings.maven_url, f"Neo4j {version}", progress)
    program = conf.Program(
        version=version,
        java=java.path,
        class_path=os.pathsep.join(str(folder / jar.path) for jar in jars),
        main_class=conf.main_class(folder / f"org/neo4j/neo4j/{version}/neo4j-{version}.jar"),
        heap=settings.neo4j_heap,
        pagecache=settings.neo4j_pagecache,
        options=tuple(shlex.split(settings.neo4j_java_options)),
        settings=conf.parse_settings(settings.neo4j_settings),
    )
    archive = ClassArchive.of(program, java, base)
    if not archive.settled and os.access(base, os.W_OK):
        with flock.exclusive(base / "lock", "the installation of Neo4j", progress):
            if not archive.settled:
                archive.make(program, probe, settings.neo4j_ready_timeout, progress)
    return replace(program, archive=archive.flags)


def installed(settings: Settings, version: str) -> bool:
    """Whether all that `version` needs is in the cache."""
    return not missing(load_lock(version), _jars(settings.cache / "neo4j" / version))


def install_jars(jars: Sequence[Jar], base: Path, url: str, name: str, progress: Progress) -> Path:
    """The folder with all of `jars`; those that are missing are downloaded, by one process at a time.

    It is laid out as a Maven repository: in one flat folder, the `Class-Path` entries of some jars would be found
    and change the class path, and a class archive is not valid then.
    """
    folder = _jars(base)
    if not missing(jars, folder):
        return folder
    try:
        base.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LocalDbError(
            f"cannot make the cache folder {base}: {error.strerror}; set KGSCHED_CACHE to a folder of your own"
        ) from error
    with flock.exclusive(base / "lock", f"the download of {name}", progress):
        if lacking := missing(jars, folder):
            progress(LICENCE)
            progress(f"downloading {name} ({sum(jar.size for jar in lacking) / 1e6:.0f} MB) to {folder}")
            from kgsched.localdb.download import fetch_all  # an HTTP client is slow to import, and seldom needed

            fetch_all(jars, folder, url, progress)
    return folder


def _jars(base: Path) -> Path:
    return base / "jars"

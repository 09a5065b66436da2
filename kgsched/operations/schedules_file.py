"""The file of desired schedules: where it lies, and its entries with every mistake that they hold."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.resources import files
from pathlib import Path

import yaml

from kgsched.core.desired import DEFAULT_ORIGIN, DesiredSchedule
from kgsched.errors import InvalidFile
from kgsched.operations.schedule_entry import read_entry, unknown_key
from kgsched.operations.yaml_source import MAX_BYTES, Source

FILE_NAME = Path("deploy") / "schedules.yml"
VARIABLE = "KGSCHED_SCHEDULES"


def find(explicit: Path | str | None, environ: Mapping[str, str]) -> Path:
    """The file to use: `explicit`, else KGSCHED_SCHEDULES, else ./deploy/schedules.yml, else the packaged one.

    Raises InvalidFile when the one that was named does not exist.
    """
    named = explicit or environ.get(VARIABLE)
    if named:
        path = Path(named).expanduser()
        if not path.is_file():
            source = "--schedules" if explicit else VARIABLE
            raise InvalidFile(str(path), [(None, f"no such file; {source} names it")])
        return path
    for path in _unnamed():
        if path.is_file():
            return path
    raise InvalidFile(str(FILE_NAME), [(None, "no such file, and the package has none; name one with --schedules")])


def origin(explicit: Path | str | None, environ: Mapping[str, str]) -> str:
    """Whose schedules a file makes: its path, if it was named; "default" for the file that is used without a name.

    A file disables only what came from the same origin.
    """
    found = find(explicit, environ)
    if not (explicit or environ.get(VARIABLE)) or any(path.is_file() and path.samefile(found) for path in _unnamed()):
        return DEFAULT_ORIGIN
    return str(found.resolve())


def _unnamed() -> tuple[Path, ...]:
    package = Path(str(files("kgsched")))
    return (FILE_NAME, package / "_deploy" / "schedules.yml", package.parent / FILE_NAME)


def load(path: Path, environ: Mapping[str, str], jobs: Collection[str] | None = None) -> list[DesiredSchedule]:
    """The entries of a file, in its order. `jobs`: known names of built-in jobs, if they are to be checked.

    Raises InvalidFile with every mistake and its line; nothing of a file with mistakes is used.
    """
    try:
        raw = path.read_bytes()
        if len(raw) > MAX_BYTES:
            raise InvalidFile(str(path), [(None, f"has {len(raw)} bytes; the limit is {MAX_BYTES}")])
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InvalidFile(str(path), [(line, "is not UTF-8 text")]) from None
    except OSError as error:
        raise InvalidFile(str(path), [(None, f"cannot be read: {error.strerror}")]) from None
    source = Source(text, environ)
    entries = _read_file(source, jobs)
    if source.problems:
        raise InvalidFile(str(path), sorted(dict.fromkeys(source.problems), key=lambda found: found[0] or 0))
    return entries


def _read_file(source: Source, jobs: Collection[str] | None) -> list[DesiredSchedule]:
    root = source.root
    if root is None:
        if not source.problems:
            source.problem(None, "is empty; write 'schedules: {}' to have none")
        return []
    if not isinstance(root, yaml.MappingNode):
        source.problem(root, "must begin with 'schedules:', then one name per entry")
        return []
    top = source.mapping(root, "file")
    for name, (key, _) in top.items():
        if name != "schedules":
            source.problem(key, unknown_key(name, ("schedules",), ""))
    if "schedules" not in top:
        source.problem(root, "has no 'schedules:'; entries stand below it")
        return []
    _, body = top["schedules"]
    if not isinstance(body, yaml.MappingNode):
        source.problem(body, "schedules must hold one name per entry; write 'schedules: {}' to have none")
        return []
    read = [read_entry(source, key, value, jobs) for key, value in source.mapping(body, "schedules").values()]
    return [entry for entry in read if entry is not None]

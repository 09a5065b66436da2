"""Copies of a stopped data folder: packed into one file, unpacked again, or taken whole before an upgrade."""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
import time
from pathlib import Path

from kgsched.errors import LocalDbError
from kgsched.localdb.home import Home, LineFolder

MANIFEST = "kgsched-neo4j.json"
FORMAT = 1
KEPT = ("data", "password")
REPLACED = "replaced"
SPARE = 256 * 1024 * 1024


def pack(folder: LineFolder, target: Path) -> Path:
    """Write data and password of a stopped server to `target` (or into it, if it is a folder); return the file.

    The file opens the database to whoever reads it, so only this user can.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S")
    if target.is_dir():
        target = target / f"kgsched-neo4j-{folder.version}-{stamp}.tar.gz"
    part = target.with_name(f".{target.name}.part")
    manifest = json.dumps({"format": FORMAT, "version": folder.version, "made": stamp}).encode()
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            with tarfile.open(fileobj=file, mode="w:gz", compresslevel=3) as tar:
                head = tarfile.TarInfo(MANIFEST)
                head.size = len(manifest)
                tar.addfile(head, io.BytesIO(manifest))
                for name in KEPT:
                    tar.add(folder.path / name, arcname=name)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise LocalDbError(
            f"cannot write the backup {target}: {error.strerror or error}; nothing was changed"
        ) from error
    return target


def packed_version(archive: Path) -> str:
    """The Neo4j version in a backup file. Raises LocalDbError when it is none."""
    try:
        with tarfile.open(archive) as tar:
            member = tar.next()
            stream = tar.extractfile(member) if member is not None and member.name == MANIFEST else None
            manifest = json.load(stream) if stream is not None else {}
    except FileNotFoundError:
        raise LocalDbError(f"there is no backup file {archive}") from None
    except (OSError, tarfile.TarError, ValueError, EOFError) as error:
        raise LocalDbError(f"{archive} cannot be read as a backup: {error}") from error
    if manifest.get("format") != FORMAT:
        raise LocalDbError(f"{archive} is not a backup of kgsched, or one of a newer kgsched")
    return str(manifest["version"])


def unpack(archive: Path, target: Path) -> None:
    """Unpack a backup into the new folder `target`; on any mistake nothing of it stays."""
    try:
        target.mkdir(mode=0o700)
        with tarfile.open(archive) as tar:
            tar.extractall(target, filter="data")
        (target / MANIFEST).unlink()
    except (OSError, tarfile.TarError, EOFError) as error:
        shutil.rmtree(target, ignore_errors=True)
        raise LocalDbError(f"cannot unpack {archive}: {error}; nothing was changed") from error


def set_aside(home: Home, folder: LineFolder) -> Path:
    """Move a data folder to <home>/replaced, where a person can fetch it back from; return where it lies."""
    target = _aside(home, folder)
    folder.path.rename(target)
    return target


def copy_aside(home: Home, folder: LineFolder) -> Path:
    """As `set_aside`, but the folder stays in place too."""
    target = _aside(home, folder)
    copy(folder, target)
    return target


def copy(folder: LineFolder, target: Path) -> None:
    """Copy data and password of a stopped server to the new folder `target`. Raises LocalDbError for want of room."""
    needed = size_of(folder.path / "data")
    free = shutil.disk_usage(folder.path).free
    if free < needed + SPARE:
        raise LocalDbError(
            f"the disk of {folder.path} is full: a copy of {needed / 1e6:.0f} MB is made first, "
            f"{free / 1e6:.0f} MB are free; make room, then try again"
        )
    target.mkdir(mode=0o700)
    shutil.copytree(folder.path / "data", target / "data")
    for name in ("password", "port", "version"):
        if (folder.path / name).exists():
            shutil.copy2(folder.path / name, target / name)


def size_of(folder: Path) -> int:
    """Bytes in the files below `folder`."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _aside(home: Home, folder: LineFolder) -> Path:
    replaced = home.root / REPLACED
    replaced.mkdir(exist_ok=True, mode=0o700)
    name = f"{folder.version}-{time.strftime('%Y%m%d-%H%M%S')}"
    taken = sum(1 for path in replaced.iterdir() if path.name.startswith(name))
    return replaced / (f"{name}-{taken}" if taken else name)

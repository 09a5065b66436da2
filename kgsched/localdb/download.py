"""Fetch the jars of a lock file into a folder: kept-alive connections, checked while streaming, never half a file."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import httpx
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential, wait_random

from kgsched.errors import LocalDbError
from kgsched.localdb.lockfile import Jar, missing

CONNECTIONS = 8
TRIES = 3
TIMEOUT = 30.0
SPARE = 64 * 1024 * 1024

OTHER_WAYS = (
    "check the network (HTTPS_PROXY is honoured), or set KGSCHED_MAVEN_URL to a mirror of Maven Central, "
    "or set KGSCHED_NEO4J_URI to a Neo4j that runs already"
)


class _Corrupt(Exception):
    """What came is not what the lock file says."""


def fetch_all(jars: Sequence[Jar], folder: Path, base_url: str, progress: Callable[[str], None]) -> None:
    """Make `folder` complete. The caller holds the folder's lock. Raises LocalDbError; finished files stay."""
    folder.mkdir(parents=True, exist_ok=True)
    for left_over in folder.rglob(".*.part"):
        left_over.unlink()
    wanted = missing(jars, folder)
    if not wanted:
        return
    _check_space(folder, sum(jar.size for jar in wanted))
    limits = httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS)
    with httpx.Client(timeout=TIMEOUT, limits=limits, follow_redirects=True) as client:
        try:
            _fetch_in_parallel(client, base_url.rstrip("/"), wanted, folder, progress)
        except (httpx.HTTPError, httpx.InvalidURL, _Corrupt, OSError) as error:
            raise _explain(error, base_url, missing(jars, folder), folder) from error


def _fetch_in_parallel(
    client: httpx.Client, base: str, jars: Sequence[Jar], folder: Path, progress: Callable[[str], None]
) -> None:
    total, done, said = sum(jar.size for jar in jars), 0, 0
    executor = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="kgsched-download")
    try:
        futures = {executor.submit(_fetch, client, base, jar, folder): jar for jar in jars}
        for future in as_completed(futures):
            future.result()
            done += futures[future].size
            if done * 5 // total > said:
                said = done * 5 // total
                progress(f"downloaded {done / 1e6:.0f} of {total / 1e6:.0f} MB")
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _fetch(client: httpx.Client, base: str, jar: Jar, folder: Path) -> None:
    retrying = Retrying(
        stop=stop_after_attempt(TRIES),
        wait=wait_exponential(multiplier=0.2, max=2.0) + wait_random(0.0, 0.2),
        retry=retry_if_exception(_worth_another_try),
        reraise=True,
    )
    retrying(_fetch_once, client, f"{base}/{jar.path}", jar, folder)


def _fetch_once(client: httpx.Client, url: str, jar: Jar, folder: Path) -> None:
    target = folder / jar.path
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.part")
    digest, size = hashlib.sha256(), 0
    with client.stream("GET", url) as response:
        response.raise_for_status()
        with part.open("wb") as file:
            for chunk in response.iter_bytes(1 << 16):
                size += len(chunk)
                if size > jar.size:
                    break
                digest.update(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
    if size != jar.size or digest.hexdigest() != jar.sha256:
        part.unlink()
        raise _Corrupt(f"{url} is not the file that was locked ({size} bytes of {jar.size}, SHA-256 differs)")
    part.replace(target)


def _worth_another_try(error: BaseException) -> bool:
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code in (408, 429) or error.response.status_code >= 500
    return isinstance(error, httpx.TransportError | _Corrupt)


def _check_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed + SPARE:
        raise _disk_full(folder, f"{needed / 1e6:.0f} MB are to be downloaded, {free / 1e6:.0f} MB are free")


def _disk_full(folder: Path, detail: str) -> LocalDbError:
    return LocalDbError(
        f"the disk of {folder} is full: {detail}; make room, or set KGSCHED_CACHE to a folder on another disk"
    )


def _explain(error: Exception, base: str, lacking: Sequence[Jar], folder: Path) -> LocalDbError:
    if isinstance(error, OSError):
        if error.errno == errno.ENOSPC:
            return _disk_full(folder, str(error))
        return LocalDbError(f"cannot write to {folder}: {error}; set KGSCHED_CACHE to a folder of your own")
    size = sum(jar.size for jar in lacking) / 1e6
    state = f"{len(lacking)} files ({size:.0f} MB) are missing in {folder}"
    if isinstance(error, _Corrupt):
        return LocalDbError(
            f"refused a corrupt download: {error}; {state}. A proxy or mirror may have changed it: {OTHER_WAYS}"
        )
    if isinstance(error, httpx.HTTPStatusError):
        reason = f"{error.request.url} answered {error.response.status_code}"
    else:
        reason = f"{base} cannot be reached ({type(error).__name__}: {error})"
    return LocalDbError(f"cannot download Neo4j: {reason}; {state}. {OTHER_WAYS[0].upper()}{OTHER_WAYS[1:]}")

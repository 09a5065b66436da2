"""The server as an operating system process: start it detached, recognise it, stop it."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

import psutil

from kgsched.errors import LocalDbError

STOP_AFTER = 10.0
KILL_AFTER = 10.0

# A shell starts the server in the background and leaves, so that the server belongs to no Python process:
# it outlives its starter and leaves no zombie behind.
DETACH = 'umask 077; log="$1"; shift; "$@" </dev/null >>"$log" 2>&1 & echo $!'


def launch(command: Sequence[str], folder: Path, log: Path) -> int:
    """Start `command` detached in a session of its own; return its process id."""
    arguments = ["/bin/sh", "-c", DETACH, "sh", str(log), *command]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("JAVA_", "JDK_", "_JAVA"))}
    answer = subprocess.run(
        arguments, cwd=folder, env=environment, start_new_session=True, stdout=subprocess.PIPE, check=True
    )
    return int(answer.stdout)


def is_ours(pid: int, folder: Path | str, instance: str) -> bool:
    """Whether `pid` is alive and was started as this instance on this folder."""
    return f"-Dkgsched.instance={instance}" in _command_on(pid, folder)


def owns_port(pid: int, port: int) -> bool:
    """Whether the process itself listens on the port: only then does it get the password."""
    if port_is_free(port):
        return False  # much cheaper to see than who listens
    try:
        connections = psutil.Process(pid).net_connections(kind="tcp")
    except psutil.NoSuchProcess:
        return False
    return any(c.status == psutil.CONN_LISTEN and c.laddr and c.laddr.port == port for c in connections)


def memory_of(pid: int) -> int | None:
    """Resident memory in bytes."""
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.NoSuchProcess:
        return None


def find_server(folder: Path) -> tuple[int, str] | None:
    """Process id and instance of a server on this folder that nobody noted (its starter was killed)."""
    for pid in psutil.pids():
        for word in _command_on(pid, folder):
            if found := re.fullmatch(r"-Dkgsched\.instance=(\w+)", word):
                return pid, found[1]
    return None


def stop(pid: int, patience: float = STOP_AFTER) -> None:
    """End the process: politely for `patience` s (an open transaction of a client can block that), then by force."""
    try:
        process = psutil.Process(pid)
        process.terminate()
        try:
            process.wait(patience)
        except psutil.TimeoutExpired:
            process.kill()  # safe: the transaction log has all that was acknowledged
            process.wait(KILL_AFTER)
    except psutil.NoSuchProcess:
        return
    except psutil.TimeoutExpired:
        raise LocalDbError(
            f"process {pid} of the managed Neo4j does not end; end it yourself, then try again"
        ) from None


def users_of(path: Path) -> list[int]:
    """Processes of this user that have `path` open, other than this one."""
    found = []
    for process in psutil.process_iter():
        if process.pid == os.getpid():
            continue
        try:
            if any(file.path == str(path) for file in process.open_files()):
                found.append(process.pid)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return sorted(found)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def port_is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _command_on(pid: int, folder: Path | str) -> list[str]:
    try:
        process = psutil.Process(pid)
        words = process.cmdline()
        if f"--home-dir={folder}" not in words or process.uids().real != os.getuid():
            return []
        if process.status() == psutil.STATUS_ZOMBIE:
            return []
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return []
    return words

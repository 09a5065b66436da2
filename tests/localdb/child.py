"""Another process that uses the managed server: `python -m tests.localdb.child VERB FOLDER …`.

download FOLDER LOCK URL   fetch the jars of a lock file
ensure FOLDER              attach or start, print the address, leave
hold FOLDER                the same, but stay until standard input ends
lock FOLDER                hold Neo4j's own lock of a data folder until standard input ends
"""

from __future__ import annotations

import fcntl
import json
import sys
from pathlib import Path

from kgsched.localdb import ManagedServer, ServerAddress
from kgsched.localdb.install import install_jars
from kgsched.localdb.lockfile import Jar
from kgsched.store import probe
from tests.server import local_settings


def main(verb: str, folder: Path, *more: str) -> None:
    match verb:
        case "download":
            jars = [Jar(**entry) for entry in json.loads(Path(more[0]).read_text())]
            install_jars(jars, folder, more[1], "the example", say)
        case "ensure":
            tell(ManagedServer(local_settings(folder), probe, say).ensure())
        case "hold":
            with ManagedServer(local_settings(folder), probe, say).hold() as address:
                tell(address)
                sys.stdin.read()
        case "lock":
            with folder.open("rb+") as file:
                fcntl.lockf(file, fcntl.LOCK_EX)
                print("locked", flush=True)
                sys.stdin.read()


def tell(address: ServerAddress) -> None:
    print(json.dumps({"uri": address.uri, "pid": address.pid, "started": address.started_by_us}), flush=True)


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])

"""One process of a crowd: a store, a log that a kill cannot take away, and a role that it plays until it may stop."""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from kgsched.errors import StoreError
from kgsched.store import Neo4jStore

Role = Callable[["Actor"], Awaitable[None]]
STOP, GO = "stop", "go"


@dataclass(frozen=True, slots=True)
class Address:
    uri: str
    user: str
    password: str
    database: str = "neo4j"

    def open(self, pool: int = 4) -> Neo4jStore:
        return Neo4jStore(self.uri, self.user, self.password, self.database, pool=pool)


class Actor:
    """What a role has at hand."""

    def __init__(self, store: Neo4jStore, folder: Path, name: str) -> None:
        self.store, self.folder, self.name = store, folder, name
        self.session = f"{name}-{os.getpid()}"
        self._log = os.open(folder / f"{name}-{os.getpid()}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def log(self, kind: str, *words: object) -> None:
        """One line, handed to the kernel before the next step is taken."""
        os.write(self._log, (" ".join([kind, *map(str, words)]) + "\n").encode())

    @property
    def stopping(self) -> bool:
        return (self.folder / STOP).exists()

    async def wait_for_go(self) -> None:
        """All processes are up before the first one begins."""
        self.log("ready")
        async with asyncio.timeout(120):
            while not (self.folder / GO).exists():  # noqa: ASYNC110 - another process makes it
                await asyncio.sleep(0.02)

    async def pause(self, seconds: float) -> None:
        """A body that takes its time."""
        await asyncio.sleep(seconds)


def live(role: Role, address: Address, folder: Path, name: str) -> None:
    """Entry of a process: play the role over and over; an error that reaches it is logged, and it goes on."""
    random.seed()
    asyncio.run(_live(role, address, folder, name))


async def _live(role: Role, address: Address, folder: Path, name: str) -> None:
    store = address.open()
    actor = Actor(store, folder, name)
    counted = 0
    await actor.wait_for_go()
    while not actor.stopping:
        try:
            await role(actor)
        except StoreError as error:
            actor.log("error", name, repr(error)[:400].replace("\n", " "))
        if sum(store.client.quick_retries.values()) > counted:
            counted = sum(store.client.quick_retries.values())
            actor.log("quick", json.dumps(store.client.quick_retries))
    actor.log("left")
    await store.close()

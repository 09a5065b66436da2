"""`kgsched daemon`: the application as a process of its own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Protocol

import structlog

from kgsched.app.built_in import add_built_in
from kgsched.app.kgsched import Kgsched
from kgsched.runtime.daemon import SIGNALS, run_daemon

log = structlog.get_logger(__name__)
WATCH_S = 2.0


class Door(Protocol):
    """What lets others in while the daemon runs: opened once the database is there, closed when it drains."""

    def open(self, app: Kgsched) -> None: ...
    def begin_to_close(self) -> None: ...
    def closed(self) -> None: ...


async def serve(
    app: Kgsched,
    *,
    services: bool = True,
    schedules: Path | None = None,
    door: Door | None = None,
    say: Callable[[str], None],
) -> int:
    """Run until a signal; return the exit code. `say` gets lines for a person; `closed` of a door waits for its end."""
    add_built_in(app.registry, app.settings)
    async with _early_signals(say) as asked_to_stop, app.connection.held():
        if asked_to_stop.is_set():
            return 0
        async with app:
            if services:
                for note in (await app.operations.schedules.apply(schedules, by="daemon")).notes:
                    say(note)
            _introduce(app, say)
        if asked_to_stop.is_set():
            return 0
        watch = asyncio.create_task(_watch(app))
        try:
            if door is not None:
                door.open(app)
            return await run_daemon(
                app.settings,
                app.registry,
                app.connection.open,
                app.spawner,
                services=services,
                on_start=lambda _: say(f"kgsched {'daemon' if services else 'worker'} is ready"),
                on_drain=None if door is None else door.begin_to_close,
            )
        finally:
            if door is not None:
                door.begin_to_close()
                await asyncio.to_thread(door.closed)
            watch.cancel()
            with suppress(asyncio.CancelledError):
                await watch


@asynccontextmanager
async def _early_signals(say: Callable[[str], None]) -> AsyncIterator[asyncio.Event]:
    """Until the daemon has handlers of its own: a server that is being started is brought up, then stopped again."""
    asked, loop = asyncio.Event(), asyncio.get_running_loop()

    def stop(number: int) -> None:
        if asked.is_set():
            os._exit(128 + number)
        asked.set()
        say("stopping as soon as the start has come to an end; once more to leave at once")

    for number in SIGNALS:
        loop.add_signal_handler(number, stop, number)
    try:
        yield asked
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)


async def _watch(app: Kgsched) -> None:
    """Start the managed server again when it died; the loops find it by themselves."""
    if app.connection.server is None:
        return
    while True:
        await asyncio.sleep(WATCH_S)
        try:
            await app.connection.revive()
        except Exception as error:  # noqa: BLE001 - whoever watches must not die of what it sees
            log.error("the managed Neo4j does not come back", error=str(error))


def _introduce(app: Kgsched, say: Callable[[str], None]) -> None:
    server = app.connection.server
    if server is not None:
        status = server.status()
        say(f"Neo4j {status.version} at {status.uri}, its data in {status.data}")
        say(f"to look into it: kgsched graph-query, or any Bolt client with the password in {status.password_file}")
    if hint := os.environ.get("KGSCHED_HINT"):
        say(hint)
    say("to see what goes on: kgsched status; to stop: Ctrl-C")

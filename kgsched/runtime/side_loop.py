"""An event loop in a thread of its own, with a store of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import structlog

from kgsched.ports import OpenStore, Store

log = structlog.get_logger(__name__)
T = TypeVar("T")


class StoreSource:
    """A store that is opened at first use and kept, on the event loop that uses it."""

    def __init__(self, open_store: OpenStore) -> None:
        self._open = open_store
        self._store: Store | None = None
        self._opening = asyncio.Lock()

    async def get(self) -> Store:
        """The store. Raises what opening raised; the next call tries again."""
        if self._store is None:
            async with self._opening:
                if self._store is None:
                    self._store = await self._open()
        return self._store

    @property
    def is_open(self) -> bool:
        return self._store is not None

    @property
    def opened(self) -> Store:
        """The store, which somebody has opened before."""
        if self._store is None:
            raise RuntimeError("the store of this loop is not open; await get() first")
        return self._store

    async def close(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            await store.close()


class SideLoop:
    """Runs coroutines for other threads. Nothing that a body raises ends it."""

    def __init__(self, name: str, open_store: OpenStore) -> None:
        self.name = name
        self.source = StoreSource(open_store)
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._serve, name=f"kgsched-{name}", daemon=True)
        self._ending = False

    def start(self) -> None:
        self.thread.start()

    @property
    def alive(self) -> bool:
        return self.thread.is_alive() and not self._ending

    def call(self, function: Callable[..., object], *args: object) -> None:
        """Call `function` on this loop soon; from any thread, also when the loop is gone."""
        try:
            self.loop.call_soon_threadsafe(function, *args)
        except RuntimeError:
            log.debug("side_loop_closed", loop=self.name)

    def submit(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Await `work` done on this loop, from another one."""
        return await asyncio.wrap_future(self.submit(work))

    async def open(self) -> None:
        """Open this loop's store if it is not open yet. Later a body may block the loop: it is not waited for."""
        if not self.source.is_open:
            await self.run(self.source.get())

    async def stop(self, timeout: float = 3.0) -> bool:
        """Cancel what still runs, close the store and end the thread. False if a blocked body keeps it alive."""
        if not self.thread.is_alive():
            self.loop.close()
            return True
        ending = self.submit(self._wind_up(timeout / 2))
        await asyncio.wait({asyncio.wrap_future(ending)}, timeout=timeout)
        self._ending = True
        self.call(self.loop.stop)
        await asyncio.to_thread(self.thread.join, timeout / 2)
        if self.thread.is_alive():
            log.warning("side_loop_blocked", loop=self.name)
            return False
        self.loop.close()
        return True

    async def _wind_up(self, timeout: float) -> None:
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        if rest:
            await asyncio.wait(rest, timeout=timeout)
        try:
            async with asyncio.timeout(timeout):
                await self.source.close()
        except Exception as error:  # noqa: BLE001 - the process is leaving; a store that cannot say goodbye is no reason to stay
            log.warning("store_close_failed", loop=self.name, error=str(error))

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        while not self._ending:
            try:
                self.loop.run_forever()
            except BaseException as error:  # noqa: BLE001 - whatever a body did to it, the loop goes on for the others
                log.error("body_left_its_loop", loop=self.name, error=repr(error))

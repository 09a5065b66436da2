"""The same application for code that is not asynchronous: its coroutines run on one background loop."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from kgsched.core.task import Enqueued
from kgsched.errors import KgschedError
from kgsched.registry import Handler

if TYPE_CHECKING:
    from kgsched.app.kgsched import Kgsched

T = TypeVar("T")


class SyncKgsched:
    """`app.sync`: connects at the first call and stays connected until `close()`, or the end of the process."""

    def __init__(self, app: Kgsched) -> None:
        self._app = app
        self._loop: asyncio.AbstractEventLoop | None = None
        self._starting = threading.Lock()

    def enqueue(self, what: str | Handler, /, **keywords: Any) -> Enqueued:
        """As `Kgsched.enqueue`."""
        return self._run(self._app.enqueue(what, **keywords))

    def wait(self, id_: str, timeout: float | None = None) -> Any:
        """As `Kgsched.wait`."""
        return self._run(self._app.wait(id_, timeout))

    def cancel(self, *ids: str) -> list[str]:
        """As `Kgsched.cancel`."""
        return self._run(self._app.cancel(*ids))

    def retry(self, *ids: str) -> list[str]:
        """As `Kgsched.retry`."""
        return self._run(self._app.retry(*ids))

    def query(self, cypher: str, /, **params: Any) -> list[dict[str, Any]]:
        """Rows of a read statement."""
        return self._run(self._app.query(cypher, **params))

    def close(self) -> None:
        """Disconnect; the next call connects again."""
        with self._starting:
            loop, self._loop = self._loop, None
        if loop is not None:
            asyncio.run_coroutine_threadsafe(self._app.close(), loop).result(10)
            loop.call_soon_threadsafe(loop.stop)
            atexit.unregister(self.close)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        with self._starting:
            loop = self._loop or self._start()
        try:
            if asyncio.get_running_loop() is loop:
                raise KgschedError("app.sync cannot be used on its own event loop; await the method of app instead")
        except RuntimeError:
            pass
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    def _start(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.new_event_loop()
        threading.Thread(target=_serve, args=(loop,), name="kgsched-sync", daemon=True).start()
        asyncio.run_coroutine_threadsafe(self._app.open(), loop).result()
        atexit.register(self.close)
        self._loop = loop
        return loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    loop.close()

"""The HTTP server of a daemon: in a thread with an event loop and a connection pool of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import structlog

from kgsched.app import Kgsched
from kgsched.errors import KgschedError
from kgsched.surfaces.rest.address import Address, listen

if TYPE_CHECKING:
    import uvicorn

    from kgsched.surfaces.rest.app import HttpApp

log = structlog.get_logger(__name__)
STOP_S = 3
WATCH_S = 2.0
CONNECTIONS = 500


class HttpServer:
    """Serves REST and MCP from `open` until `begin_to_close`; nothing that it does holds up the daemon's own loops."""

    def __init__(self, address: Address, *, require_token: bool, say: Callable[[str], None]) -> None:
        self._address, self._say = address, say
        self._require_token = require_token or not address.loopback
        self._socket: socket.socket | None = listen(address)
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: uvicorn.Server | None = None
        self._http: HttpApp | None = None
        self._closing = threading.Event()

    @property
    def port(self) -> int | None:
        """The port that it listens on; None when it does not."""
        return None if self._socket is None else int(self._socket.getsockname()[1])

    @property
    def url(self) -> str:
        host = f"[{self._address.host}]" if ":" in self._address.host else self._address.host
        return f"{self._address.scheme}://{host}:{self.port}"

    def open(self, app: Kgsched) -> None:
        """Start to answer. Says one line, also when there is nothing to listen on."""
        if self._socket is None:
            where = f"{self._address.host}:{self._address.port}"
            self._say(f"no HTTP: {where} is taken by another program; --port chooses another one")
            return
        # made here: imports in a thread would hold up the daemon's loops once they run
        from kgsched.surfaces.rest.app import HttpApp

        own = Kgsched(app.settings, registry=app.registry)
        self._http = HttpApp(own, require_token=self._require_token)
        self._server = _server(self._http, self._address)
        self._thread = threading.Thread(target=self._run, args=(app, own), name="kgsched-http", daemon=True)
        self._thread.start()

    def begin_to_close(self) -> None:
        """Take no new requests; from any thread, and more than once."""
        self._closing.set()
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # it has ended already
                loop.call_soon_threadsafe(self._stop)

    def closed(self) -> None:
        """Wait until the last request is answered."""
        if self._thread is not None:
            self._thread.join(STOP_S + 5)
        elif self._socket is not None:
            self._socket.close()

    def _stop(self) -> None:
        if self._http is not None:
            self._http.stop_streams()
        if self._server is not None:
            self._server.should_exit = True

    def _run(self, daemon: Kgsched, own: Kgsched) -> None:
        try:
            asyncio.run(self._serve(daemon, own))
        except Exception as error:
            log.error("http_server_ended", error=f"{type(error).__name__}: {error}", exc_info=error)

    async def _serve(self, daemon: Kgsched, own: Kgsched) -> None:
        assert self._server is not None
        assert self._socket is not None
        self._loop = asyncio.get_running_loop()
        async with own as app:
            await self._introduce()
            watch = asyncio.create_task(self._watch(daemon, app))
            try:
                if not self._closing.is_set():
                    await self._server.serve(sockets=[self._socket])
            finally:
                watch.cancel()
                with suppress(asyncio.CancelledError):
                    await watch

    async def _introduce(self) -> None:
        assert self._http is not None
        if await self._http.graph.doorkeeper.is_open():
            who = "who is on this machine needs no token until `kgsched tokens create`"
        else:
            who = "each request needs a token"
        self._say(f"HTTP at {self.url}, MCP at {self.url}/mcp; {who}")

    async def _watch(self, daemon: Kgsched, app: Kgsched) -> None:
        """Connect anew when the managed server came back elsewhere."""
        server = daemon.connection.server
        while server is not None:
            await asyncio.sleep(WATCH_S)
            try:
                if await asyncio.to_thread(server.uri) != app.store.client.uri:
                    await app.close()
                    await app.open(migrate=False)
            except KgschedError as error:
                log.warning("http_not_connected", error=str(error))


def _server(http: HttpApp, address: Address) -> uvicorn.Server:
    import uvicorn
    from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

    from kgsched.surfaces.rest.patience import PatientProtocol
    from kgsched.surfaces.rest.peers import OnlyProxies

    cert, key = address.tls or (None, None)
    app: Any = http
    if address.proxies:
        app = ProxyHeadersMiddleware(app, trusted_hosts=list(address.proxies))
        if not address.loopback and not address.tls:
            app = OnlyProxies(app, address.proxies)
    config = uvicorn.Config(
        app,
        http=PatientProtocol,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ssl_certfile=cert,
        ssl_keyfile=key,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=STOP_S,
        ws="none",
    )
    return uvicorn.Server(config)

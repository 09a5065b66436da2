"""Who may connect where nothing is encrypted and others reach: the proxies that end TLS, and nobody else."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from starlette.types import ASGIApp, Receive, Scope, Send

from kgsched.surfaces.rest.origin import is_loopback
from kgsched.surfaces.rest.problems import problem


class OnlyProxies:
    """Answers peers that are no trusted proxy with 403, before a byte of their request is believed."""

    def __init__(self, app: ASGIApp, proxies: Sequence[str]) -> None:
        self._app = app
        self._networks = [ipaddress.ip_network(one) for one in proxies]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._trusts(scope.get("client")):
            words = "tokens do not travel here in the clear; come by the proxy that ends TLS"
            await problem(403, "forbidden", words)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _trusts(self, client: tuple[str, int] | None) -> bool:
        if client is None:
            return False
        if is_loopback(client[0]):
            return True
        peer = ipaddress.ip_address(client[0])
        return any(peer.version == network.version and peer in network for network in self._networks)

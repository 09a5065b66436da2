"""Where the HTTP server listens, and what it takes to listen there."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass

from kgsched.config import Settings
from kgsched.errors import InvalidValue
from kgsched.surfaces.rest.origin import is_loopback

BACKLOG = 256


@dataclass(frozen=True, slots=True)
class Address:
    """Host and port. chosen: a person asked for that port, so that another one, or none, would be wrong."""

    host: str
    port: int
    chosen: bool
    tls: tuple[str, str] | None = None
    proxies: tuple[str, ...] = ()

    @property
    def loopback(self) -> bool:
        return is_loopback(self.host)

    @property
    def scheme(self) -> str:
        return "https" if self.tls else "http"


def address_of(settings: Settings, *, chosen: bool) -> Address:
    """Raises InvalidValue for an address that others reach, without TLS or a trusted proxy in front of it."""
    host = settings.http_host.strip("[]")
    cert, key = settings.http_tls_cert, settings.http_tls_key
    if (cert is None) != (key is None):
        raise InvalidValue("KGSCHED_HTTP_TLS_CERT and KGSCHED_HTTP_TLS_KEY go together; set both or none")
    for file in (cert, key):
        if file is not None and not file.is_file():
            raise InvalidValue(f"there is no file {file} for TLS")
    proxies = tuple(part.strip() for part in settings.http_trusted_proxies.split(",") if part.strip())
    for proxy in proxies:
        _check_proxy(proxy)
    tls = (str(cert), str(key)) if cert is not None and key is not None else None
    found = Address(host, settings.http_port, chosen, tls, proxies)
    if not found.loopback and tls is None and not proxies:
        raise InvalidValue(
            f"refusing to listen on {host} without TLS: tokens would travel in the clear. Set KGSCHED_HTTP_TLS_CERT "
            "and _KEY, or KGSCHED_HTTP_TRUSTED_PROXIES to the address of the proxy that ends TLS, or stay on 127.0.0.1"
        )
    return found


def _check_proxy(text: str) -> None:
    try:
        network = ipaddress.ip_network(text)
    except ValueError:
        raise InvalidValue(f"KGSCHED_HTTP_TRUSTED_PROXIES must name IP addresses or networks, not {text!r}") from None
    if network.prefixlen == 0:
        raise InvalidValue(f"KGSCHED_HTTP_TRUSTED_PROXIES must name addresses; {text} would trust everybody")


def listen(address: Address) -> socket.socket | None:
    """A listening socket; None when a port that nobody asked for is taken. Raises InvalidValue else."""
    try:
        family = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise InvalidValue(f"cannot listen on {address.host}: {error.strerror}") from None
    made = socket.socket(family[0], family[1])
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(family[4])
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        if not address.chosen:
            return None
        raise InvalidValue(
            f"cannot listen on {address.host}:{address.port}: {error.strerror}; choose another --port, or --no-http"
        ) from None
    made.setblocking(False)
    return made

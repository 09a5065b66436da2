"""Where a request comes from: the host that it names, and whether a browser sent it for another site."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers

_PROXIES = frozenset(
    {"forwarded", "via", "x-real-ip", "x-client-ip", "x-original-host", "x-original-url", "true-client-ip"}
)
_PROXY_FAMILIES = ("x-forwarded-", "cf-")
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Origin:
    """What the headers tell. proxied: it came through somebody. problem: why it is refused, None when it is not."""

    host: str
    loopback: bool
    browser: bool
    proxied: bool
    problem: tuple[int, str] | None


def examine(headers: Headers, allowed: Collection[str]) -> Origin:
    """Judge Host and Origin. `allowed`: names of hosts besides those of loopback."""
    hosts = headers.getlist("host")
    name = _name(hosts[0]) if len(hosts) == 1 else None
    loopback = name in LOOPBACK_NAMES
    browser = any(header == "origin" or header.startswith("sec-fetch-") for header in headers.keys())  # noqa: SIM118
    problem: tuple[int, str] | None = None
    if name is None or not (loopback or name in allowed):
        problem = 421, "the Host header names no host of this server; KGSCHED_HTTP_HOSTS lists further ones"
    elif any(not _own(origin, hosts[0]) for origin in headers.getlist("origin")):
        problem = 403, "requests of other sites are refused, whatever they carry"
    proxied = any(header in _PROXIES or header.startswith(_PROXY_FAMILIES) for header in headers.keys())  # noqa: SIM118
    return Origin(name or "", loopback, browser, proxied, problem)


def _name(host: str) -> str | None:
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return None
    if parts.path or parts.query or parts.fragment or parts.username is not None or not parts.hostname:
        return None
    return parts.hostname.lower()


def _own(origin: str, host: str) -> bool:
    return origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())

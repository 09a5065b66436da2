"""The server of a daemon: where it listens, what it says, and that it ends with the daemon."""

from __future__ import annotations

import signal
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest

from kgsched import Kgsched
from kgsched.config import Settings, load_settings
from kgsched.errors import InvalidValue
from kgsched.localdb import ServerAddress
from kgsched.surfaces.rest import patience
from kgsched.surfaces.rest.address import Address, address_of, listen
from kgsched.surfaces.rest.app import HttpApp
from kgsched.surfaces.rest.peers import OnlyProxies
from tests.acceptance.commands import Commands, environment, until
from tests.rest.running import serving, token_for
from tests.store.worlds import World

CERT = {"http_tls_cert": __file__, "http_tls_key": __file__}


def address(**fields: Any) -> Address:
    return address_of(load_settings(**fields), chosen=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "example.org"])
def test_listening_where_others_reach_it_needs_tls_or_a_trusted_proxy(host: str) -> None:
    with pytest.raises(InvalidValue, match="without TLS"):
        address(http_host=host)
    assert address(http_host=host, **CERT).scheme == "https"
    assert address(http_host=host, http_trusted_proxies="192.0.2.1").proxies == ("192.0.2.1",)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.9.9.9"])
def test_loopback_needs_nothing(host: str) -> None:
    assert address(http_host=host).loopback


def test_half_of_tls_and_a_proxy_of_everybody_are_refused() -> None:
    with pytest.raises(InvalidValue, match="go together"):
        address(http_tls_cert=__file__)
    with pytest.raises(InvalidValue, match="no file"):
        address(http_tls_cert="/nowhere", http_tls_key="/nowhere")
    for everybody in ("0.0.0.0/0", "::/0"):
        with pytest.raises(InvalidValue, match="everybody"):
            address(http_trusted_proxies=everybody)
    for name in ("*", "foo", "192.0.2.1/99"):
        with pytest.raises(InvalidValue, match="IP addresses"):
            address(http_trusted_proxies=f"192.0.2.1,{name}")


@pytest.mark.parametrize(("peer", "status"), [("192.0.2.1", 200), ("127.0.0.1", 200), ("192.0.2.9", 403), ("::2", 403)])
async def test_only_the_proxy_is_answered_where_nothing_is_encrypted(http: HttpApp, peer: str, status: int) -> None:
    transport = httpx.ASGITransport(OnlyProxies(http, ["192.0.2.0/29"]), client=(peer, 5000))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as web:
        assert (await web.get("/healthz")).status_code == status


async def test_a_connection_that_says_nothing_is_closed(app: Kgsched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "HEAD_S", 0.2)
    with serving(app) as server:
        port = int(server.url.rsplit(":", 1)[1])
        for said in (b"", b"GET /healthz HT", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET"):
            with socket.create_connection(("127.0.0.1", port), timeout=60) as silent:
                silent.sendall(said)
                heard = b"".join(iter(lambda silent=silent: silent.recv(1000), b""))
            assert (b"200" in heard) is said.endswith(b"GET")
        async with httpx.AsyncClient(base_url=server.url) as web:
            assert (await web.get("/healthz")).status_code == 200


async def test_a_body_that_breaks_off_is_not_carried_out(app: Kgsched) -> None:
    part = b'{"type": "read", "id": "half"}'
    kind = "Content-Type: application/json"
    head = f"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\n{kind}\r\nContent-Length: {len(part) + 9}"
    with serving(app) as server:
        port = int(server.url.rsplit(":", 1)[1])
        with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
            client.sendall(head.encode() + b"\r\n\r\n" + part)
            client.shutdown(socket.SHUT_WR)
            b"".join(iter(lambda: client.recv(1000), b""))
        async with httpx.AsyncClient(base_url=server.url) as web:
            assert (await web.get("/v1/tasks/half")).status_code == 404


def test_a_port_that_is_taken_is_refused_if_it_was_asked_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert listen(Address("127.0.0.1", port, False)) is None
        with pytest.raises(InvalidValue, match="--no-http"):
            listen(Address("127.0.0.1", port, True))


async def test_it_says_who_is_let_in(app: Kgsched) -> None:
    said: list[str] = []
    with serving(app, said=said) as server:
        until(lambda: said)
        assert "until `kgsched tokens create`" in said[0]
        async with httpx.AsyncClient(base_url=server.url) as web:
            assert (await web.get("/healthz")).json() == {"status": "ok"}
    await token_for(app, "read:task")
    with serving(app, said=said):
        until(lambda: len(said) > 1)
    assert "each request needs a token" in said[1]


async def test_readiness_tells_what_is_missing(web: httpx.AsyncClient, world: World) -> None:
    answer = await web.get("/readyz")
    assert (answer.status_code, answer.json()["checks"]["leader"]) == (503, "nobody fires schedules and sweeps")
    await world.store.cluster.acquire("w", 60_000)
    info = {"host": "h", "pid": 1, "slots": 4, "types": ["read"], "session": "s"}
    await world.store.cluster.register_worker("w", info, 60_000)
    assert (await web.get("/readyz")).json()["ready"] is True


async def test_readiness_without_a_database(settings: Settings) -> None:
    from kgsched.surfaces.rest.app import HttpApp
    from tests.rest.running import client

    away = Kgsched(settings)
    async with client(HttpApp(away)) as web:
        assert (await web.get("/readyz")).json()["checks"] == {"database": "it does not answer"}
        assert (await web.get("/healthz")).status_code == 200
        answer = await web.get("/v1/tasks")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")


@pytest.fixture
def commands(neo4j_server: ServerAddress, world: World, tmp_path: Path) -> Commands:
    (tmp_path / "none.yml").write_text("schedules: {}\n")
    more = {"KGSCHED_HOME": str(tmp_path), "KGSCHED_DRAIN": "2", "KG_RESEARCH_FEED": "false"}
    return Commands(environment(neo4j_server, **more), tmp_path)


async def test_a_daemon_serves_and_stops_with_its_drain(commands: Commands, world: World) -> None:
    with commands.daemon("--port", "0", "--schedules", "none.yml") as daemon:
        line = daemon.wait_for("HTTP at ")
        url = line.split()[2].rstrip(",")
        async with httpx.AsyncClient(base_url=url, timeout=30) as web:
            made = await web.post("/v1/tasks", json={"type": "scheduled_job", "payload": {"job": "heal"}})
            done = (await web.get(f"/v1/tasks/{made.json()['id']}/wait?timeout=30")).json()
            assert done["tasks"][0]["status"] == "completed"
            assert daemon.end(signal.SIGTERM) == 0
            with pytest.raises(httpx.HTTPError):
                await web.get("/healthz")
    assert not [line for line in daemon.lines if "Traceback" in line or "jumped" in line]


async def test_a_daemon_goes_on_without_http_where_8080_is_taken(commands: Commands) -> None:
    taken = socket.socket()
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind(("127.0.0.1", 8080))
        taken.listen()
    except OSError:
        pass  # somebody else has it, which is as good
    with taken, commands.daemon("--schedules", "none.yml") as daemon:
        daemon.wait_for("no HTTP: 127.0.0.1:8080 is taken")
    refused = commands.run("kgsched", "daemon", "--host", "0.0.0.0", code=2)
    assert "without TLS" in refused.stderr

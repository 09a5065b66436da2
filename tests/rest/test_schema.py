"""The OpenAPI document against the server: schemathesis with all its checks and stateful chains.

KGSCHED_TEST_FUZZ=long adds its coverage phase and many more examples; that takes minutes.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from kgsched import Kgsched
from kgsched.core.access import Scope
from kgsched.surfaces.rest.app import HttpApp
from kgsched.surfaces.rest.problems import MEDIA
from tests.rest.running import serving, token_for

# What the schema cannot say is 422 too: two fields that exclude one another, an instant that does not exist, Cypher.
CONFIG = """
[checks]
positive_data_acceptance.expected-statuses = ["2xx", "401", "403", "404", "409", "412", "422", "429"]

[parameters]
"query.timeout" = 0
"query.seconds" = 0
"""
LENGTHS = {
    "short": ("--phases=examples,fuzzing,stateful", "--max-examples=4"),
    "long": ("--phases=examples,coverage,fuzzing,stateful", "--max-examples=50"),
}


def test_every_route_is_described_with_examples_and_problems(http: HttpApp) -> None:
    document = http.api.openapi()
    bodies = 0
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            assert one.get("summary"), path
            assert "422" in one["responses"] or path in ("/healthz", "/readyz"), path
            for status, response in one["responses"].items():
                if int(status) >= 400 and path != "/readyz":
                    assert list(response["content"]) == [MEDIA], (method, path, status)
            bodies += "requestBody" in one
    assert bodies > 8
    assert "examples" in str(document["paths"]["/graph/schedules"]["post"]["requestBody"])
    assert "HTTPValidationError" not in str(document)


@pytest.fixture
async def served(app: Kgsched, tmp_path: Path) -> AsyncIterator[tuple[str, str]]:
    """Address and a token that may do everything."""
    file = tmp_path / "schedules.yml"
    file.write_text("schedules:\n  hourly:\n    type: read\n    every: 1h\n")
    await app.operations.schedules.apply(file, by="a test")
    await app.enqueue("read", id="a-task")
    token = await token_for(app, *(scope.value for scope in Scope), space="*")
    with serving(app) as server:
        yield server.url, token


@pytest.mark.timeout(1800)
async def test_schemathesis_finds_nothing(served: tuple[str, str], tmp_path: Path) -> None:
    url, token = served
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    command = [
        str(Path(sys.executable).with_name("st")),
        "run",
        f"{url}/openapi.json",
        "--checks=all",
        *LENGTHS[os.environ.get("KGSCHED_TEST_FUZZ", "short")],
        "--generation-deterministic",
        "--seed=1",
        "--exclude-path=/readyz",  # its 503 is an answer
        "--no-color",
        f"--header=Authorization: Bearer {token}",
    ]
    done = await asyncio.to_thread(subprocess.run, command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-12_000:] + done.stderr[-2000:]
    async with httpx.AsyncClient(base_url=url) as web:
        assert (await web.get("/healthz")).status_code == 200

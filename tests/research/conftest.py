"""A small arXiv on loopback for the tests of the research feed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kgsched.config import Settings, load_settings
from kgsched.demo.arxiv_server import ArxivServer
from kgsched.research.throttle import Throttle


@pytest.fixture
def arxiv() -> Iterator[ArxivServer]:
    with ArxivServer() as server:
        yield server


@pytest.fixture
def settings(arxiv: ArxivServer) -> Settings:
    return load_settings(**arxiv.settings(), pdf_timeout=20.0)


@pytest.fixture
def throttle() -> Throttle:
    return Throttle()

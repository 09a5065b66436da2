"""Fetching PDFs over real HTTP and reading them in a child process."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import psutil
import pytest

from kgsched.config import Settings
from kgsched.demo.arxiv_server import ArxivServer, Reply
from kgsched.demo.papers import PAPERS
from kgsched.demo.pdf_writer import write_pdf
from kgsched.errors import Retry
from kgsched.research.extract import FullText, extract_text
from kgsched.research.http import new_client
from kgsched.research.pdf import NoText, PdfFile, download_pdf
from kgsched.research.throttle import Throttle

PAPER = PAPERS[0].paper
PATH = f"/pdf/{PAPER.arxiv_id}v1"
PDF = {"Content-Type": "application/pdf"}
HTML = {"Content-Type": "text/html; charset=utf-8"}


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with new_client(settings) as open_client:
        yield open_client


async def test_a_served_pdf_is_read_word_for_word(
    client: httpx.AsyncClient, settings: Settings, throttle: Throttle
) -> None:
    pdf = await download_pdf(client, settings, throttle, PAPER)
    assert isinstance(pdf, PdfFile)
    text = await extract_text(pdf, 20)
    assert isinstance(text, FullText)
    assert PAPER.title in text.text
    assert PAPER.abstract in text.text
    assert text.pages == 2


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(404, b"<!DOCTYPE html><h1>Withdrawn</h1>", HTML), "no_pdf"),
        (Reply(403, b"<h1>not public</h1>", HTML), "closed"),
        (Reply(200, b"<!DOCTYPE html><html>are you a robot?</html>", PDF), "not_pdf"),
        (Reply(200, write_pdf(["text"]), HTML), "not_pdf"),
        (Reply(200, b"", PDF), "not_pdf"),
    ],
)
async def test_without_a_pdf_there_is_a_reason(
    arxiv: ArxivServer, client: httpx.AsyncClient, settings: Settings, throttle: Throttle, reply: Reply, reason: str
) -> None:
    arxiv.script(PATH, reply)
    answer = await download_pdf(client, settings, throttle, PAPER)
    assert isinstance(answer, NoText)
    assert answer.reason == reason
    assert isinstance(await download_pdf(client, settings, throttle, PAPER), PdfFile), "the next one is served again"


@pytest.mark.parametrize(
    ("reply", "after"),
    [
        (Reply(500, b"<h1>unavailable</h1>", HTML), None),
        (Reply(429, b"Rate exceeded.", {"Retry-After": "90"}), 90.0),
        (Reply(503, b"", {"Retry-After": "2"}), 60.0),
        (Reply(200, write_pdf(["text"]), PDF, drop=True), None),
    ],
)
async def test_what_may_pass_is_tried_again(
    arxiv: ArxivServer,
    client: httpx.AsyncClient,
    settings: Settings,
    throttle: Throttle,
    reply: Reply,
    after: float | None,
) -> None:
    arxiv.script(PATH, reply)
    with pytest.raises(Retry) as error:
        await download_pdf(client, settings, throttle, PAPER)
    assert error.value.after == after


async def test_a_pdf_above_the_limit_is_not_read_to_its_end(
    arxiv: ArxivServer, client: httpx.AsyncClient, settings: Settings, throttle: Throttle
) -> None:
    arxiv.pdfs[PAPER.arxiv_id] = write_pdf(["word " * 40_000])
    small = settings.model_copy(update={"pdf_max_bytes": 10_000})
    answer = await download_pdf(client, small, throttle, PAPER)
    assert isinstance(answer, NoText)
    assert answer.reason == "too_large"


async def test_old_identifiers_and_redirects_are_followed(
    arxiv: ArxivServer, client: httpx.AsyncClient, settings: Settings, throttle: Throttle
) -> None:
    arxiv.pdfs["hep-th/9901001"] = write_pdf(["an old paper"])
    arxiv.script("/pdf/hep-th/", Reply(301, b"", {"Location": "/pdf/hep-th/9901001v2"}))
    paper = replace(PAPER, arxiv_id="hep-th/9901001", version=2)
    assert isinstance(await download_pdf(client, settings, throttle, paper), PdfFile)
    assert [one.status for one in arxiv.asked("/pdf/hep-th/9901001v2")] == [301, 200]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (write_pdf([]), "scanned"),
        (b"%PDF-1.4 and nothing else", "damaged"),
        (write_pdf(["word " * 400])[:700], "damaged"),
    ],
)
async def test_a_pdf_without_text_says_why(body: bytes, reason: str) -> None:
    answer = await extract_text(PdfFile("http://127.0.0.1/x", body), 20)
    assert isinstance(answer, NoText)
    assert answer.reason == reason


async def test_a_reader_that_hangs_is_killed() -> None:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    started = time.monotonic()
    answer = await extract_text(PdfFile("x", write_pdf(["text"])), 1.0, child="tests.research.hanging_child")
    assert isinstance(answer, NoText)
    assert answer.reason == "timeout"
    assert time.monotonic() - started < 60
    left = [child for child in psutil.Process().children(recursive=True) if child.pid not in before]
    assert left == []


async def test_a_reader_that_dies_is_a_reason_not_an_error() -> None:
    answer = await extract_text(PdfFile("x", write_pdf(["text"])), 20, child="tests.research.no_such_child")
    assert isinstance(answer, NoText)
    assert answer.reason == "damaged"


async def test_a_reader_without_memory_says_so() -> None:
    huge = b"%PDF-1.4\n" + bytes(96 * 1024 * 1024)
    answer = await extract_text(PdfFile("x", huge), 60, memory=128 * 1024 * 1024)
    assert isinstance(answer, NoText)
    assert answer.reason == "memory"

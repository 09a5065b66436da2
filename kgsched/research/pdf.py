"""Fetching the PDF of a paper: politely, bounded, and only if it is one.

arXiv answers 404 with HTML for withdrawn papers and papers without source, 403 for those that their author closed, and
500 while a PDF is being built; any answer can be an HTML page in disguise.
"""

from __future__ import annotations

from dataclasses import dataclass

import httpx

from kgsched.config import Settings
from kgsched.errors import Retry
from kgsched.research.http import Answer, fetch, refuse_bad_status
from kgsched.research.paper import Paper
from kgsched.research.throttle import Throttle

_MAGIC_WITHIN = 1024


@dataclass(frozen=True, slots=True)
class NoText:
    """Why a paper has no full text: `no_pdf`, `closed`, `not_pdf`, `too_large`, `damaged`, `encrypted`, `scanned`,
    `timeout` or `memory`; `detail` is for a person."""

    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class PdfFile:
    """A PDF as it was served."""

    url: str
    body: bytes


def pdf_url(settings: Settings, paper: Paper) -> str:
    """Where the PDF of exactly this version is; old identifiers keep their slash."""
    return f"{settings.arxiv_pdf_url.rstrip('/')}/pdf/{paper.arxiv_id}v{paper.version}"


async def download_pdf(
    client: httpx.AsyncClient, settings: Settings, throttle: Throttle, paper: Paper
) -> PdfFile | NoText:
    """The PDF of a paper, or why there is none for good. Raises Retry for what may pass (429, 5xx, network)."""
    url = pdf_url(settings, paper)
    answer = await fetch(client, throttle, url, accept="application/pdf", limit=settings.pdf_max_bytes)
    if answer.status in {404, 410}:
        return NoText("no_pdf", f"{url} answered {answer.status}: withdrawn, or never had a PDF")
    if answer.status == 403:
        return NoText("closed", f"{url} answered 403: not public")
    refuse_bad_status(throttle, url, answer.status, answer.headers)
    if answer.truncated:
        return NoText("too_large", f"{url} is over {settings.pdf_max_bytes} bytes (KGSCHED_PDF_MAX_BYTES)")
    if not _is_pdf(answer):
        kind = answer.headers.get("Content-Type", "no content type")
        return NoText("not_pdf", f"{url} answered {kind} that is no PDF: {answer.body[:40]!r}")
    _refuse_short(answer)
    return PdfFile(answer.url, answer.body)


def _is_pdf(answer: Answer) -> bool:
    kind = answer.headers.get("Content-Type", "application/pdf").partition(";")[0].strip().lower()
    return kind in {"application/pdf", "application/octet-stream"} and b"%PDF-" in answer.body[:_MAGIC_WITHIN]


def _refuse_short(answer: Answer) -> None:
    length = answer.headers.get("Content-Length", "")
    if length.isdigit() and "Content-Encoding" not in answer.headers and len(answer.body) < int(length):
        raise Retry(f"{answer.url} broke off after {len(answer.body)} of {length} bytes")

"""The text of a PDF, read in a child process that can be killed."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from signal import SIGKILL, Signals

from kgsched.research.pdf import NoText, PdfFile
from kgsched.research.text import clean_pages

MOST_PAGES = 500
MEMORY = 1024 * 1024 * 1024
LEAST_CHARS_PER_PAGE = 60
_CHILD = "kgsched.research.extract_child"


@dataclass(frozen=True, slots=True)
class FullText:
    """Clean text of a PDF; `pages` is the number of pages in the file, of which at most 500 were read."""

    text: str
    pages: int


async def extract_text(pdf: PdfFile, timeout: float, memory: int = MEMORY, child: str = _CHILD) -> FullText | NoText:
    """Text of the PDF, or why it has none. The child is gone when this returns, is cancelled or times out."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", child, str(MOST_PAGES), str(memory), str(ceil(timeout) + 1)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(timeout):
            out, _ = await process.communicate(pdf.body)
    except TimeoutError:
        return NoText("timeout", f"{pdf.url} was not read within {timeout:g} s (KGSCHED_PDF_TIMEOUT)")
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, SIGKILL)
            await process.wait()
    if process.returncode != 0:
        return NoText("damaged", f"the reader of {pdf.url} ended {_ending(process.returncode)}")
    return _judge(pdf.url, json.loads(out))


def _judge(url: str, answer: dict[str, object]) -> FullText | NoText:
    if "reason" in answer:
        return NoText(str(answer["reason"]), f"{url}: {answer['detail']}")
    pages = [str(page) for page in _list(answer["pages"])]
    text = clean_pages(pages)
    if len(text) < LEAST_CHARS_PER_PAGE * max(len(pages), 1):
        return NoText("scanned", f"{url} has {len(text)} characters on {len(pages)} pages: scanned or blank")
    return FullText(text, int(str(answer["total"])))


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"by {Signals(-code).name}"
    return f"with code {code}"

"""The process that reads one PDF: bytes on stdin, JSON on stdout. Run as `python -m kgsched.research.extract_child`.

It lives apart because PDFs can hang a reader or eat all memory: its limits are set before the first byte is read, and
its parent kills it when it takes too long. Arguments: most pages, memory in bytes, processor seconds.
"""

from __future__ import annotations

import io
import json
import logging
import resource
import sys
import warnings
from typing import Any

MOST_CHARS = 4_000_000


def main() -> None:
    pages, memory, seconds = (int(word) for word in sys.argv[1:4])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    try:
        answer = read(sys.stdin.buffer.read(), pages)
    except MemoryError:
        answer = {"reason": "memory", "detail": f"needs more than {memory} bytes of memory"}
    sys.stdout.buffer.write(json.dumps(answer).encode("ascii"))


def read(body: bytes, most_pages: int) -> dict[str, Any]:
    """`{pages: […], total}` or `{reason, detail}`; a page that cannot be read is empty."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

    try:
        reader = PdfReader(io.BytesIO(body))
        total = len(reader.pages)
        texts: list[str] = []
        for number in range(min(total, most_pages)):
            texts.append(_page_text(reader, number))
            if sum(map(len, texts)) > MOST_CHARS:
                break
    except (FileNotDecryptedError, DependencyError) as error:
        return {"reason": "encrypted", "detail": f"{type(error).__name__}: {error}"}
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OSError) as error:
        return {"reason": "damaged", "detail": f"{type(error).__name__}: {error}"[:500]}
    return {"pages": texts, "total": total}


def _page_text(reader: Any, number: int) -> str:
    from pypdf.errors import PdfReadError

    try:
        return str(reader.pages[number].extract_text())
    except (PdfReadError, ValueError, KeyError, TypeError, AttributeError, IndexError, ZeroDivisionError):
        return ""


if __name__ == "__main__":
    main()

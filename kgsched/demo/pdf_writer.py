"""Writing small PDF files: pages of plain text in Helvetica, enough for readers to extract (ISO 32000-1)."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

LINE_CHARS = 88
PAGE_LINES = 48


def write_pdf(paragraphs: Sequence[str], *, page_lines: int = PAGE_LINES) -> bytes:
    """A PDF of the paragraphs, wrapped and broken into pages; without paragraphs it is one blank page."""
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += [*textwrap.wrap(paragraph, LINE_CHARS, break_on_hyphens=False), ""]
    pages = [lines[start : start + page_lines] for start in range(0, len(lines), page_lines)] or [[]]
    return _assemble([_content(page) for page in pages])


def _content(lines: Sequence[str]) -> bytes:
    rows = [b"BT /F1 10 Tf 14 TL 56 760 Td"]
    rows += [b"(" + _escape(line) + b") Tj T*" for line in lines]
    return b"\n".join([*rows, b"ET"])


def _escape(text: str) -> bytes:
    raw = text.encode("cp1252", "replace")
    return raw.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def _assemble(contents: Sequence[bytes]) -> bytes:
    first_page = 4
    kids = b" ".join(b"%d 0 R" % (first_page + 2 * place) for place in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(contents)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for place, content in enumerate(contents):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (first_page + 2 * place + 1)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    return _with_cross_references(objects)


def _with_cross_references(objects: Sequence[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(out)

"""Text of PDF pages made fit for a graph, and its cutting into chunks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

CHUNK_CHARS = 1200
OVERLAP_CHARS = 200
_UNSTORABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\ud800-\udfff\ufffe\uffff]")
_LIGATURES = {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\u00ad": ""}
_HYPHENATED = re.compile(r"(?<=[a-z])[-\u2010]\n(?=[a-z])")
_MARGIN = re.compile(r"^\s*arXiv:\S+v\d+\s+\[[\w.-]+\]\s+\d{1,2} \w{3} \d{4}\s*$", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a text; `seq` counts from 0."""

    seq: int
    text: str


def clean_pages(pages: Sequence[str]) -> str:
    """The pages as one text: paragraphs apart by a blank line, words whole, nothing that a graph cannot store."""
    text = "\n".join(page.replace("\r\n", "\n").replace("\r", "\n") for page in pages)
    for ligature, letters in _LIGATURES.items():
        text = text.replace(ligature, letters)
    text = _MARGIN.sub("", _UNSTORABLE.sub("", text))
    text = _HYPHENATED.sub("", text)
    return "\n\n".join(_paragraphs(text.split("\n")))


def split_chunks(text: str, size: int = CHUNK_CHARS, overlap: int = OVERLAP_CHARS) -> tuple[Chunk, ...]:
    """Chunks of about `size` characters that end with a paragraph where they can, else with a sentence.

    Each begins with the last sentences of the one before, at most `overlap` characters of them.
    """
    chunks: list[str] = []
    current = ""
    for piece in _pieces(text, size):
        if current and len(current) + len(piece) + 2 > size:
            chunks.append(current)
            current = _tail(current, overlap)
        current = f"{current}\n\n{piece}" if current else piece
    if current:
        chunks.append(current)
    return tuple(Chunk(number, chunk) for number, chunk in enumerate(chunks))


def _paragraphs(lines: Sequence[str]) -> Iterator[str]:
    """Lines joined to paragraphs: one ends at a blank line, or where a sentence ends well before the margin."""
    margin = max((len(line.rstrip()) for line in lines), default=0)
    current: list[str] = []
    for line in lines:
        words = " ".join(line.split())
        if words:
            current.append(words)
        ends = words.endswith((".", "!", "?", ":")) and len(line.rstrip()) < 0.85 * min(margin, 120)
        if current and (not words or ends):
            yield " ".join(current)
            current = []
    if current:
        yield " ".join(current)


def _pieces(text: str, size: int) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        if len(paragraph) <= size:
            if paragraph.strip():
                yield paragraph.strip()
            continue
        current = ""
        for sentence in _SENTENCE_END.split(paragraph):
            for part in _cut(sentence, size):
                if current and len(current) + len(part) + 1 > size:
                    yield current
                    current = ""
                current = f"{current} {part}".strip()
        if current:
            yield current


def _cut(sentence: str, size: int) -> Iterator[str]:
    while len(sentence) > size:
        place = sentence.rfind(" ", size // 2, size)
        place = size if place < 0 else place
        yield sentence[:place]
        sentence = sentence[place:].lstrip()
    yield sentence


def _tail(chunk: str, most: int) -> str:
    """The last whole sentences of a chunk, at most `most` characters."""
    tail = ""
    for sentence in reversed(_SENTENCE_END.split(chunk)):
        longer = f"{sentence} {tail}".strip()
        if len(longer) > most:
            break
        tail = longer
    return tail

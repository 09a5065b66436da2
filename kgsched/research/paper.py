"""A paper as the feed and the API describe it, and its identifiers.

Identifiers follow arXiv's own scheme: `YYMM.NNNNN` (`YYMM.NNNN` until 2014) or `archive(.XX)/YYMMNNN` before 2007-04,
each with an optional version `vN`. The graph is keyed by the identifier without its version.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kgsched.errors import InvalidValue

_IDENTIFIER = re.compile(
    r"(?P<id>(?:\d{2}(?P<month>\d{2})\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{2}(?P<old_month>\d{2})\d{3}))"
    r"(?:v(?P<version>[1-9]\d*))?(?:\.pdf)?$"
)
_UNSTORABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Author:
    """One author, with the affiliation that the source names, if any."""

    name: str
    affiliation: str | None = None


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper; `published` is ISO 8601 text in UTC, `categories` has the primary one first."""

    arxiv_id: str
    version: int
    title: str
    abstract: str
    authors: tuple[Author, ...] = ()
    categories: tuple[str, ...] = ()
    announce_type: str = "new"
    license: str | None = None
    published: str | None = None
    doi: str | None = None

    @property
    def article_id(self) -> str:
        return f"article:scholarx:arxiv-{self.arxiv_id}"

    @property
    def url(self) -> str:
        return f"https://arxiv.org/abs/{self.arxiv_id}"

    @property
    def text(self) -> str:
        """Title and abstract: what is graded and embedded, on both sides of a comparison."""
        return f"{self.title}\n{self.abstract}"

    def payload(self) -> dict[str, Any]:
        """JSON-ready form, read back by `from_payload`."""
        return asdict(self)

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Paper:
        """The paper of a task's payload. Raises InvalidValue when a field is missing or not of its kind."""
        try:
            arxiv_id, version = parse_identifier(str(payload["arxiv_id"]))
            return cls(
                arxiv_id=arxiv_id,
                version=int(payload.get("version") or version or 1),
                title=str(payload["title"]),
                abstract=str(payload["abstract"]),
                authors=tuple(Author(**one) for one in payload.get("authors", ())),
                categories=tuple(map(str, payload.get("categories", ()))),
                announce_type=str(payload.get("announce_type", "new")),
                license=payload.get("license"),
                published=payload.get("published"),
                doi=payload.get("doi"),
            )
        except (KeyError, TypeError) as error:
            raise InvalidValue(f"payload of a paper lacks {error}; it needs arxiv_id, title and abstract") from error


def parse_identifier(text: str) -> tuple[str, int | None]:
    """The identifier at the end of `text` without its version, and the version, if it has one.

    Takes bare identifiers, `arXiv:…`, `oai:arXiv.org:…` and the URLs of abstract and PDF pages.
    Raises InvalidValue for what is none.
    """
    found = _IDENTIFIER.search(text.strip())
    month = int(found["month"] or found["old_month"]) if found else 0
    starts_well = found is not None and (found.start() == 0 or text.strip()[found.start() - 1] in ":/")
    if found is None or not 1 <= month <= 12 or not starts_well:
        raise InvalidValue(f"{text[:80]!r} is not an arXiv identifier like 2609.00004, 2609.00004v2 or hep-th/9901001")
    return found["id"], int(found["version"]) if found["version"] else None


def split_authors(text: str) -> tuple[Author, ...]:
    """Authors of arXiv's one-line form `Ann Lee (MIT, CSAIL), Bob Ray Jr.`; commas in parentheses do not split."""
    parts, depth, start = [], 0, 0
    for place, char in enumerate(text):
        depth = max(0, depth + (char == "(") - (char == ")"))
        if char == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    parts.append(text[start:])
    return tuple(_author(part) for part in parts if part.strip(" ,"))


def _author(text: str) -> Author:
    name, _, rest = text.strip().partition("(")
    affiliation = tidy(rest.rstrip().removesuffix(")"))
    return Author(tidy(name) or affiliation, affiliation if tidy(name) and affiliation else None)


def tidy(text: str) -> str:
    """The text on one line, without what a graph cannot store (half surrogates, NULs, control characters)."""
    return " ".join(_UNSTORABLE.sub("", text).split())

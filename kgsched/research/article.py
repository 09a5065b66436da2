"""What a paper becomes in the graph, as the rows of the statements that write it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kgsched.research.embedding import Embedder
from kgsched.research.paper import Paper
from kgsched.research.taxonomy import DOMAINS, Match, matches
from kgsched.research.text import Chunk, split_chunks

_SLUG = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Article:
    """One article to write. `text` is the full text, or None for abstract only with the reason for that."""

    paper: Paper
    embedder: Embedder
    text: str | None = None
    no_text_reason: str | None = None
    pages: int | None = None
    score: float | None = None
    verdict: str | None = None
    novelty: float | None = None
    article_id: str | None = None

    @property
    def id(self) -> str:
        return self.article_id or self.paper.article_id

    @property
    def full(self) -> bool:
        return self.text is not None

    @property
    def contribution_id(self) -> str:
        return f"concept:{self.id}"

    @cached_property
    def terms(self) -> tuple[Match, ...]:
        found = matches(self.paper.title, self.paper.abstract)
        return tuple(sorted((one for one in found if one.weight > 0), key=lambda one: one.term))

    @cached_property
    def chunks(self) -> tuple[Chunk, ...]:
        return split_chunks(self.paper.abstract if self.text is None else self.text)

    def names(self) -> dict[str, Any]:
        """Parameters of research/merge_names."""
        domains = sorted({one.domain for one in self.terms})
        category = self.paper.categories[0] if self.paper.categories else "unknown"
        return {
            "sources": [
                {"id": self.source_id, "name": f"arXiv {category}", "url": f"https://arxiv.org/list/{category}"}
            ],
            "domains": [{"id": _domain_id(one), "name": one} for one in domains],
            "authors": [{"id": one["id"], "name": one["name"]} for one in self._authors],
            "concepts": [*map(self._term_concept, self.terms), self._contribution()],
        }

    def links(self) -> dict[str, Any]:
        """Parameters of research/write_article."""
        paper = self.paper
        return {
            "id": self.id,
            "article": {
                "arxiv_id": paper.arxiv_id,
                "version": paper.version,
                "title": paper.title,
                "abstract": paper.abstract,
                "url": paper.url,
                "license": paper.license,
                "categories": list(paper.categories),
                "published": paper.published,
                "announce_type": paper.announce_type,
                "doi": paper.doi,
                "score": self.score,
                "verdict": self.verdict,
                "novelty": self.novelty,
                "embedding": self.embedding,
                "embedding_model": self.embedder.model,
            },
            "full": self.full,
            "no_text_reason": self.no_text_reason,
            "pages": self.pages,
            "source": self.source_id,
            "domains": sorted({_domain_id(one.domain) for one in self.terms}),
            "authors": [
                {"id": one["id"], "position": one["position"], "affiliation": one["affiliation"]}
                for one in self._authors
            ],
            "mentions": self.mention_rows(),
            "contribution": self.contribution_id,
        }

    def mention_rows(self) -> list[dict[str, Any]]:
        return [
            {"id": _concept_id(one.term), "weight": round(one.weight, 2), "in_title": one.in_title}
            for one in self.terms
        ]

    def chunk_rows(self) -> list[dict[str, Any]]:
        return [{"id": f"chunk:{self.id}:{one.seq}", "seq": one.seq, "text": one.text} for one in self.chunks]

    @property
    def source_id(self) -> str:
        return f"source:arxiv:{self.paper.categories[0] if self.paper.categories else 'unknown'}"

    @cached_property
    def embedding(self) -> list[float] | None:
        return _storable(self.embedder.embed(self.paper.text))

    @cached_property
    def _authors(self) -> list[dict[str, Any]]:
        """Each author once, in the order of the paper; two of the same name are one node."""
        found: dict[str, dict[str, Any]] = {}
        for position, author in enumerate(self.paper.authors, start=1):
            one = f"author:{_slug(author.name)}"
            found.setdefault(
                one, {"id": one, "name": author.name, "position": position, "affiliation": author.affiliation}
            )
        return list(found.values())

    def _term_concept(self, match: Match) -> dict[str, Any]:
        return {
            "id": _concept_id(match.term),
            "name": match.term,
            "kind": "term",
            "embedding": _storable(self.embedder.embed(match.term)),
            "model": self.embedder.model,
            "domain": _domain_id(match.domain),
        }

    def _contribution(self) -> dict[str, Any]:
        """What the paper adds, as a concept of its own: later papers are compared with it for novelty."""
        return {
            "id": self.contribution_id,
            "name": self.paper.title,
            "kind": "contribution",
            "embedding": self.embedding,
            "model": self.embedder.model,
            "domain": _domain_id(self.main_domain) if self.main_domain else None,
        }

    @property
    def main_domain(self) -> str | None:
        by_domain = {name: sum(one.weight for one in self.terms if one.domain == name) for name in DOMAINS}
        best = max(by_domain, key=lambda name: by_domain[name])
        return best if by_domain[best] > 0 else None


def _storable(vector: list[float]) -> list[float] | None:
    """A vector of zeros has no direction; a vector index refuses it."""
    return vector if any(vector) else None


def _domain_id(name: str) -> str:
    return f"domain:{name}"


def _concept_id(term: str) -> str:
    return f"concept:{_slug(term)}"


def _slug(text: str) -> str:
    return _SLUG.sub("-", text.casefold()).strip("-")[:200] or "unnamed"

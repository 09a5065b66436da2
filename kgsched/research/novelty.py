"""How new a paper is: one minus the cosine to the nearest concept in the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import structlog

from kgsched.research.embedding import Embedder, HashingEmbedder

_log = structlog.get_logger(__name__)


class ConceptIndex(Protocol):
    """The concepts of the graph, searchable by vector."""

    async def nearest_concept(self, embedding: Sequence[float], model: str) -> tuple[str, float] | None:
        """Name and cosine of the nearest concept of that model, None when there is none."""
        ...


class ConceptMatcher:
    """Novelty of texts against the concepts that the graph holds."""

    def __init__(self, concepts: ConceptIndex, embedder: Embedder | None = None) -> None:
        self._concepts, self._embedder = concepts, embedder or HashingEmbedder()

    async def novelty(self, text: str) -> float | None:
        """0.0 (known) to 1.0 (new, or the graph is empty). None, and a log line, when embedder or graph fail."""
        try:
            nearest = await self._concepts.nearest_concept(self._embedder.embed(text), self._embedder.model)
        except Exception as error:  # noqa: BLE001 - whatever fails here, grading goes on by keywords
            _log.warning("novelty_unknown", text=text[:80], error=f"{type(error).__name__}: {error}")
            return None
        return 1.0 if nearest is None else round(min(max(1.0 - nearest[1], 0.0), 1.0), 4)

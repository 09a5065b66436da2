"""The hashing embedder and the novelty probe."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Sequence

import pytest

from kgsched.demo.papers import PAPERS
from kgsched.errors import StorageConnectionError
from kgsched.research.embedding import DIMENSIONS, HashingEmbedder, cosine
from kgsched.research.novelty import ConceptMatcher

TEXT = "Graph memory for teams of agents"


def test_vectors_are_of_length_one_and_fixed_size() -> None:
    vector = HashingEmbedder().embed(TEXT)
    assert len(vector) == DIMENSIONS
    assert math.sqrt(sum(value * value for value in vector)) == pytest.approx(1.0)


def test_another_process_makes_the_same_vector() -> None:
    code = f"from kgsched.research.embedding import HashingEmbedder as E; print(E().embed({TEXT!r}))"
    command = [sys.executable, "-c", code]
    out = subprocess.run(
        command, env={"PYTHONHASHSEED": "7", "PYTHONPATH": ":".join(sys.path)}, check=True, capture_output=True
    )
    assert out.stdout.decode().strip() == str(HashingEmbedder().embed(TEXT))


def test_near_copies_are_near_and_strangers_are_far() -> None:
    vectors = {one.paper.arxiv_id: HashingEmbedder().embed(one.paper.text) for one in PAPERS}
    original, copy = vectors.pop("2611.90001"), vectors.pop("2611.90021")
    assert cosine(original, copy) > 0.75
    assert max(cosine(original, other) for other in vectors.values()) < 0.5


def test_text_without_words_is_the_zero_vector() -> None:
    assert cosine(HashingEmbedder().embed("—"), HashingEmbedder().embed(TEXT)) == 0.0


def test_vectors_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        cosine([1.0], [1.0, 0.0])


class Concepts:
    def __init__(self, answer: tuple[str, float] | Exception | None) -> None:
        self.answer = answer

    async def nearest_concept(self, embedding: Sequence[float], model: str) -> tuple[str, float] | None:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "expected"),
    [(None, 1.0), (("x", 0.94), 0.06), (("x", 1.0000001), 0.0), (("x", -0.2), 1.0)],
)
async def test_novelty_is_the_distance_to_the_nearest_concept(
    answer: tuple[str, float] | None, expected: float
) -> None:
    assert await ConceptMatcher(Concepts(answer)).novelty(TEXT) == pytest.approx(expected)


async def test_novelty_is_unknown_when_the_graph_fails() -> None:
    assert await ConceptMatcher(Concepts(StorageConnectionError("down"))).novelty(TEXT) is None


class BrokenEmbedder:
    model = "broken"

    def embed(self, text: str) -> list[float]:
        raise RuntimeError("no model")


async def test_novelty_is_unknown_when_the_embedder_fails() -> None:
    assert await ConceptMatcher(Concepts(None), BrokenEmbedder()).novelty(TEXT) is None

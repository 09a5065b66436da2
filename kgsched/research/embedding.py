"""A small embedder without a model: words and word pairs, hashed with a sign into a fixed number of places.

Feature hashing after Weinberger et al., "Feature Hashing for Large Scale Multitask Learning" (ICML 2009). Needs no
state and no weights, and gives the same vector in every process; near copies come close to cosine 1, strangers to 0.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import Protocol

MODEL = "hashing-512-v1"
DIMENSIONS = 512
_WORD = re.compile(r"[^\W_]+")
_STOP = frozenset(
    {
        *("a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "for", "from", "has", "have", "how"),
        *("in", "into", "is", "it", "its", "more", "most", "not", "of", "on", "or", "our", "over", "such", "than"),
        *("that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "under", "up"),
        *("use", "using", "via", "was", "we", "were", "what", "when", "which", "while", "who", "will", "with"),
        *("without", "you"),
    }
)


class Embedder(Protocol):
    """Text to a unit vector; `model` names what made it, since vectors of two models cannot be compared."""

    model: str

    def embed(self, text: str) -> list[float]: ...


class HashingEmbedder:
    """Signed hashing of words and word pairs into 512 places, of length 1 (or all zero for text without words)."""

    model = MODEL

    def embed(self, text: str) -> list[float]:
        places = [0.0] * DIMENSIONS
        for feature, count in Counter(_features(text)).items():
            place, sign = _place(feature)
            places[place] += sign * (1.0 + math.log(count))
        length = math.sqrt(sum(value * value for value in places))
        return [value / length for value in places] if length else places


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    """Cosine of two vectors, -1.0 to 1.0; 0.0 when one of them is zero. Raises ValueError for different lengths."""
    product = sum(a * b for a, b in zip(left, right, strict=True))
    lengths = math.sqrt(sum(a * a for a in left)) * math.sqrt(sum(b * b for b in right))
    return product / lengths if lengths else 0.0


def _features(text: str) -> Iterator[str]:
    words = [word for word in _WORD.findall(text.casefold()) if word not in _STOP]
    yield from words
    for first, second in pairwise(words):
        yield f"{first} {second}"


@lru_cache(maxsize=65536)
def _place(feature: str) -> tuple[int, float]:
    number = int.from_bytes(blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest(), "big")
    return (number >> 1) % DIMENSIONS, 1.0 if number & 1 else -1.0

"""From a paper and its novelty to a verdict, a place in the queue, and the reasons for both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from kgsched.core.priority import CRITICAL, HIGH, MAX_WEIGHT
from kgsched.research.paper import Paper
from kgsched.research.taxonomy import Match, matches

RELEVANT_FROM = 3.0
MARGINAL_FROM = 1.0
CRITICAL_FROM = 6.0
NOVELTY_FLOOR = 0.25
DOMAIN_CAP = 6.0
SCORE_CAP = 10.0


class Verdict(StrEnum):
    """What happens with a paper: relevant ones are fetched whole, marginal ones kept as abstracts."""

    RELEVANT = "relevant"
    MARGINAL = "marginal"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Grade:
    """The verdict on a paper. `score` is 0.0 to 10.0 with one decimal; `novelty` is None when it is unknown.

    `domains` and `terms` have the strongest first; `bucket` and `weight` are its place in the queue.
    """

    score: float
    verdict: Verdict
    domains: tuple[str, ...]
    terms: tuple[str, ...]
    novelty: float | None
    demoted: bool
    bucket: int
    weight: int
    reasons: tuple[str, ...]


def score_paper(paper: Paper, novelty: float | None = None) -> Grade:
    """Grade title and abstract by the taxonomy; a novelty below 0.25 demotes a relevant paper to marginal."""
    found = sorted(matches(paper.title, paper.abstract), key=lambda match: (-match.weight, match.term))
    by_domain = _domain_scores(found)
    penalty = sum(match.weight for match in found if match.weight < 0)
    score = round(min(max(sum(by_domain.values()) + penalty, 0.0), SCORE_CAP), 1)
    verdict = _verdict(score)
    demoted = verdict is Verdict.RELEVANT and novelty is not None and novelty < NOVELTY_FLOOR
    return Grade(
        score=score,
        verdict=Verdict.MARGINAL if demoted else verdict,
        domains=tuple(sorted(by_domain, key=lambda domain: (-by_domain[domain], domain))),
        terms=tuple(match.term for match in found if match.weight > 0),
        novelty=novelty,
        demoted=demoted,
        bucket=CRITICAL if score >= CRITICAL_FROM else HIGH,
        weight=min(round(score * 10), MAX_WEIGHT),
        reasons=tuple(_reasons(found, novelty, demoted)),
    )


def _domain_scores(found: Sequence[Match]) -> dict[str, float]:
    scores: defaultdict[str, float] = defaultdict(float)
    for match in found:
        if match.weight > 0:
            scores[match.domain] = min(scores[match.domain] + match.weight, DOMAIN_CAP)
    return scores


def _verdict(score: float) -> Verdict:
    if score >= RELEVANT_FROM:
        return Verdict.RELEVANT
    return Verdict.MARGINAL if score >= MARGINAL_FROM else Verdict.REJECTED


def _reasons(found: Sequence[Match], novelty: float | None, demoted: bool) -> list[str]:
    """One line per matched term, then what novelty did."""
    lines = [
        f"{match.weight:+.1f} {match.term}{' (title)' if match.in_title else ''}"
        f"{f' in {match.domain}' if match.domain else ' is unwanted'}"
        for match in found
    ]
    if novelty is None:
        return [*lines, "novelty unknown: graded by keywords only"]
    if demoted:
        return [*lines, f"novelty {novelty:.2f} is below {NOVELTY_FLOOR}: demoted to marginal"]
    return [*lines, f"novelty {novelty:.2f}"]

"""The weighted keyword taxonomy: what the feed looks for, in ten domains.

A term matches on word boundaries and without regard to case; its words may be joined by a space, a hyphen or nothing
(`multi agent`, `multi-agent`, `multiagent`), and its last word may be plural.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

STRONG, CLEAR, WEAK = 1.4, 1.0, 0.5

DOMAINS: dict[str, dict[str, float]] = {
    "trading": {
        "algorithmic trading": STRONG,
        "market making": STRONG,
        "trading agent": STRONG,
        "trading strategy": STRONG,
        "order book": CLEAR,
        "portfolio optimization": CLEAR,
        "order execution": CLEAR,
        "limit order": CLEAR,
        "alpha factor": CLEAR,
        "stock market": WEAK,
        "volatility": WEAK,
        "financial market": WEAK,
    },
    "orchestration": {
        "agent orchestration": STRONG,
        "multi agent": STRONG,
        "agentic workflow": STRONG,
        "task scheduling": CLEAR,
        "task decomposition": CLEAR,
        "workflow": WEAK,
        "orchestration": CLEAR,
        "autonomous agent": CLEAR,
        "llm agent": CLEAR,
        "delegation": WEAK,
        "planner": WEAK,
        "coordination": WEAK,
    },
    "memory": {
        "agent memory": STRONG,
        "long term memory": STRONG,
        "episodic memory": STRONG,
        "memory augmented": CLEAR,
        "retrieval augmented generation": CLEAR,
        "graph memory": STRONG,
        "memory consolidation": CLEAR,
        "context window": WEAK,
        "context compression": CLEAR,
        "vector store": WEAK,
        "retrieval": WEAK,
        "working memory": CLEAR,
    },
    "reasoning": {
        "chain of thought": STRONG,
        "multi step reasoning": STRONG,
        "tree search": CLEAR,
        "logical reasoning": CLEAR,
        "causal reasoning": CLEAR,
        "theorem proving": CLEAR,
        "self consistency": CLEAR,
        "test time compute": CLEAR,
        "reasoning": WEAK,
        "deduction": WEAK,
        "planning": WEAK,
        "process reward": CLEAR,
    },
    "learning": {
        "reinforcement learning": CLEAR,
        "continual learning": STRONG,
        "self improvement": STRONG,
        "online learning": CLEAR,
        "in context learning": CLEAR,
        "preference optimization": CLEAR,
        "curriculum learning": CLEAR,
        "policy gradient": WEAK,
        "fine tuning": WEAK,
        "distillation": WEAK,
        "meta learning": CLEAR,
        "experience replay": WEAK,
    },
    "tools": {
        "tool use": STRONG,
        "function calling": STRONG,
        "tool learning": STRONG,
        "model context protocol": STRONG,
        "code generation": CLEAR,
        "code agent": CLEAR,
        "api call": CLEAR,
        "program synthesis": CLEAR,
        "web agent": CLEAR,
        "code interpreter": CLEAR,
        "plugin": WEAK,
        "sandbox": WEAK,
    },
    "security": {
        "prompt injection": STRONG,
        "jailbreak": STRONG,
        "data poisoning": STRONG,
        "red teaming": CLEAR,
        "adversarial attack": CLEAR,
        "access control": CLEAR,
        "privilege escalation": CLEAR,
        "guardrail": CLEAR,
        "backdoor": CLEAR,
        "threat model": WEAK,
        "exfiltration": WEAK,
        "vulnerability": WEAK,
    },
    "evaluation": {
        "agent benchmark": STRONG,
        "llm as a judge": STRONG,
        "benchmark": WEAK,
        "evaluation framework": CLEAR,
        "hallucination detection": CLEAR,
        "hallucination": WEAK,
        "ablation": WEAK,
        "reproducibility": WEAK,
        "leaderboard": WEAK,
        "calibration": WEAK,
        "human evaluation": CLEAR,
        "contamination": WEAK,
    },
    "ontology": {
        "knowledge graph": STRONG,
        "ontology": STRONG,
        "entity resolution": CLEAR,
        "entity linking": CLEAR,
        "relation extraction": CLEAR,
        "graph database": CLEAR,
        "link prediction": CLEAR,
        "knowledge base": WEAK,
        "graph neural network": WEAK,
        "semantic web": CLEAR,
        "taxonomy": WEAK,
        "schema matching": CLEAR,
    },
    "communication": {
        "agent communication": STRONG,
        "communication protocol": CLEAR,
        "emergent communication": STRONG,
        "negotiation": CLEAR,
        "multi agent debate": STRONG,
        "dialogue system": CLEAR,
        "message passing": WEAK,
        "consensus": WEAK,
        "conversational agent": CLEAR,
        "human agent interaction": CLEAR,
        "debate": WEAK,
        "turn taking": WEAK,
    },
}

NEGATIVE: dict[str, float] = {
    "protein folding": 2.0,
    "molecular dynamics": 2.0,
    "drug discovery": 1.5,
    "medical imaging": 1.5,
    "radiology": 1.5,
    "clinical trial": 1.5,
    "galaxy": 2.0,
    "quantum chromodynamics": 2.0,
    "image segmentation": 1.0,
    "speech synthesis": 1.0,
    "crop yield": 1.5,
    "remote sensing": 1.0,
}

_JOINT = r"[\s\-\u2010-\u2013]?"


@dataclass(frozen=True, slots=True)
class Match:
    """One term that a text holds. `weight` is what it adds to the score (negative for an unwanted term)."""

    domain: str
    term: str
    weight: float
    in_title: bool


@cache
def pattern(term: str) -> re.Pattern[str]:
    """The compiled pattern of a term, for case-folded text."""
    *first, last = (re.escape(word) for word in term.casefold().split())
    plural = f"(?:{last[:-1]}(?:y|ies))" if last.endswith("y") else f"{last}(?:s|es)?"
    return re.compile(rf"(?<![^\W_]){_JOINT.join([*first, plural])}(?![^\W_])")


def matches(title: str, abstract: str, title_weight: float = 2.0) -> list[Match]:
    """Each term found, once; in the title it counts `title_weight` times, in title and abstract both counts add up.

    A term that is part of a longer one found in its domain (`memory` of `agent memory`) does not count again.
    """
    head, body = title.casefold(), abstract.casefold()
    found = []
    for domain, term, weight in _terms():
        text = pattern(term)
        in_title, in_abstract = bool(text.search(head)), bool(text.search(body))
        if in_title or in_abstract:
            found.append(Match(domain, term, weight * (title_weight * in_title + in_abstract), in_title))
    return [one for one in found if not any(_within(one, other) for other in found)]


def _within(one: Match, other: Match) -> bool:
    return one.domain == other.domain and one.term != other.term and f" {one.term} " in f" {other.term} "


def _terms() -> Iterator[tuple[str, str, float]]:
    for domain, terms in DOMAINS.items():
        for term, weight in terms.items():
            yield domain, term, weight
    for term, weight in NEGATIVE.items():
        yield "", term, -weight

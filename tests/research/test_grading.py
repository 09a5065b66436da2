"""The taxonomy and the verdicts."""

from __future__ import annotations

import pytest

from kgsched.demo.papers import PAPERS
from kgsched.research.grading import Verdict, score_paper
from kgsched.research.paper import Paper
from kgsched.research.taxonomy import DOMAINS, matches, pattern


def graded(title: str, abstract: str = "", novelty: float | None = 1.0):  # noqa: ANN201 - the type is score_paper's
    return score_paper(Paper("2609.00004", 1, title, abstract), novelty)


def test_there_are_ten_domains() -> None:
    assert list(DOMAINS) == [
        *("trading", "orchestration", "memory", "reasoning", "learning"),
        *("tools", "security", "evaluation", "ontology", "communication"),
    ]


@pytest.mark.parametrize("text", ["multi agent", "multi-agent", "multiagent", "multi\u2013agents", "a multi\nagent b"])
def test_spelling_variants_match(text: str) -> None:
    assert pattern("multi agent").search(text)


@pytest.mark.parametrize("text", ["multi agency", "xmulti agent", "multi, agent", "multi agent7", "multi_agentic"])
def test_parts_of_other_words_do_not_match(text: str) -> None:
    assert not pattern("multi agent").search(text)


def test_plurals_in_ies_match() -> None:
    assert pattern("vulnerability").search("two vulnerabilities")
    assert pattern("ontology").search("ontologies")


def test_case_does_not_matter_and_the_title_counts_twice() -> None:
    (title,) = matches("KNOWLEDGE GRAPHS", "")
    (abstract,) = matches("", "Knowledge Graphs")
    (both,) = matches("Knowledge graph", "knowledge-graph")
    assert title.weight == 2 * abstract.weight
    assert both.weight == title.weight + abstract.weight


def test_a_word_inside_a_longer_term_counts_once() -> None:
    assert [one.term for one in matches("Agent Benchmark", "")] == ["agent benchmark"]


@pytest.mark.parametrize(
    ("title", "abstract", "verdict", "bucket"),
    [
        ("Tool use and prompt injection", "with a knowledge graph", Verdict.RELEVANT, 0),
        ("Tool use", "by delegation", Verdict.RELEVANT, 1),
        ("Boats", "negotiation", Verdict.MARGINAL, 1),
        ("Boats", "a workflow", Verdict.REJECTED, 1),
        ("Boats", "", Verdict.REJECTED, 1),
    ],
)
def test_thresholds(title: str, abstract: str, verdict: Verdict, bucket: int) -> None:
    grade = graded(title, abstract)
    assert (grade.verdict, grade.bucket) == (verdict, bucket)


def test_unwanted_terms_pull_a_paper_down() -> None:
    assert graded("Knowledge graph", "").verdict is Verdict.MARGINAL
    assert graded("Knowledge graph for protein folding").verdict is Verdict.REJECTED


def test_known_ideas_demote_relevant_papers_to_marginal() -> None:
    known = graded("Tool use and prompt injection", novelty=0.24)
    assert (known.verdict, known.demoted) == (Verdict.MARGINAL, True)
    assert any("0.24" in reason for reason in known.reasons)
    new = graded("Tool use and prompt injection", novelty=0.25)
    assert (new.verdict, new.demoted) == (Verdict.RELEVANT, False)
    assert not graded("Boats", "negotiation", novelty=0.0).demoted


def test_without_novelty_keywords_decide() -> None:
    grade = graded("Tool use and prompt injection", novelty=None)
    assert grade.verdict is Verdict.RELEVANT
    assert "keywords only" in grade.reasons[-1]


def test_scores_are_capped_and_weights_follow_them() -> None:
    everything = " ".join(term for terms in DOMAINS.values() for term in terms)
    grade = graded(everything, everything)
    assert (grade.score, grade.weight) == (10.0, 100)


def test_the_demonstration_spreads_over_all_verdicts() -> None:
    grades = {one.paper.arxiv_id: score_paper(one.paper, 1.0) for one in PAPERS if 1 in one.days}
    relevant = sorted((one.weight for one in grades.values() if one.verdict is Verdict.RELEVANT), reverse=True)
    assert relevant[:3] == [94, 70, 61]
    assert {one.verdict for one in grades.values()} == set(Verdict)


def test_reasons_name_the_terms() -> None:
    grade = graded("Prompt injection", "in tool use")
    assert grade.terms == ("prompt injection", "tool use")
    assert grade.domains == ("security", "tools")
    assert grade.reasons[0] == "+2.8 prompt injection (title) in security"

"""Which claims a worker asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from kgsched.core.claiming import Candidate, ClaimRequest, TypeRule, plan_claims
from kgsched.core.lanes import LANES

RULES = {
    "ask": TypeRule("queries"),
    "doc": TypeRule("ingestion"),
    "codebase": TypeRule("ingestion", max_share=0.5),
    "paper": TypeRule("research"),
    "deep": TypeRule("extraction"),
    "tick": TypeRule("maint"),
}
WITHOUT_QUERIES = {name: rule for name, rule in RULES.items() if name != "ask"}


def heads(*types: str, bucket: int = 2) -> list[Candidate]:
    return [Candidate(name, bucket, rank) for rank, name in enumerate(types)]


def plan(
    slots: int,
    candidates: Sequence[Candidate],
    running: Sequence[str] = (),
    *,
    rules: dict[str, TypeRule] = RULES,
    free: int = 0,
) -> Counter[str]:
    """How many tasks the plan asks for, by lane."""
    asked: Counter[str] = Counter()
    for request in plan_claims(slots, running, rules, candidates, {"maint": free}):
        asked[request.lane] += request.n
    return asked


def test_the_most_urgent_bucket_goes_first() -> None:
    low, high = Candidate("doc", 3, 1), Candidate("paper", 0, 9)
    assert plan(1, [low, high], rules=WITHOUT_QUERIES) == {"research": 1}


def test_inside_a_bucket_the_lower_rank_goes_first() -> None:
    assert plan(1, heads("paper", "doc"), rules=WITHOUT_QUERIES) == {"research": 1}


def test_a_lane_below_its_floor_goes_before_more_urgent_work() -> None:
    urgent = [Candidate("doc", 0, rank) for rank in range(4)]
    assert plan(2, [*urgent, Candidate("ask", 3, 99)], ["doc"]) == {"queries": 1}


def test_one_slot_stays_free_for_questions_from_four_slots_on() -> None:
    assert plan(4, heads(*["doc"] * 9)) == {"ingestion": 3}
    assert plan(4, heads("ask", *["doc"] * 9), ["doc"] * 3) == {"queries": 1}


def test_no_slot_stays_free_in_a_worker_that_answers_no_questions() -> None:
    assert plan(4, heads(*["doc"] * 9), rules=WITHOUT_QUERIES) == {"ingestion": 4}


def test_small_workers_keep_nothing_back() -> None:
    for slots in (1, 2, 3):
        assert plan(slots, heads(*["doc"] * 9)) == {"ingestion": slots}


def test_with_one_slot_every_lane_drains() -> None:
    for name, rule in RULES.items():
        assert plan(1, heads(name), free=1) == {rule.lane: 1}


def test_the_reserved_share_goes_to_extraction_first() -> None:
    urgent = [Candidate("doc", 0, rank) for rank in range(9)]
    assert plan(8, [*urgent, *heads("deep", "deep", "deep", bucket=3)], ["doc"] * 5, rules=WITHOUT_QUERIES) == {
        "extraction": 2,
        "ingestion": 1,
    }


def test_the_reserved_share_keeps_no_slot_empty() -> None:
    assert plan(8, heads(*["doc"] * 9), rules=WITHOUT_QUERIES) == {"ingestion": 8}


def test_research_fills_at_most_half_of_the_slots() -> None:
    assert plan(8, heads(*["paper"] * 9), rules=WITHOUT_QUERIES) == {"research": 4}


def test_codebases_fill_at_most_half_of_the_slots_and_are_asked_for_apart() -> None:
    requests = plan_claims(8, [], WITHOUT_QUERIES, heads(*["codebase"] * 9, *["doc"] * 9), {})
    assert set(requests) == {
        ClaimRequest("ingestion", ("codebase",), 4),
        ClaimRequest("ingestion", ("doc",), 4),
    }


def test_a_capped_lane_is_asked_only_for_what_is_free() -> None:
    ticks = heads(*["tick"] * 5)
    assert plan(8, ticks, free=0) == {}
    assert plan_claims(8, [], RULES, ticks, {"maint": 1}) == (ClaimRequest("maint", ("tick",), 1, capped=True),)


def test_types_of_others_are_left_alone() -> None:
    assert plan(4, heads("unknown", "unknown")) == {}


@given(
    st.integers(1, 12),
    st.lists(st.sampled_from(sorted(RULES)), max_size=12),
    st.lists(st.builds(Candidate, st.sampled_from(sorted(RULES)), st.integers(0, 3), st.integers(0, 50)), max_size=30),
    st.integers(-1, 3),
)
def test_a_plan_never_exceeds_slots_candidates_shares_or_caps(
    slots: int, running: list[str], candidates: list[Candidate], free: int
) -> None:
    running = running[:slots]
    asked = plan(slots, candidates, running, free=free)
    assert sum(asked.values()) <= slots - len(running)
    there = Counter(RULES[candidate.type].lane for candidate in candidates)
    load = Counter(RULES[name].lane for name in running)
    for lane, count in asked.items():
        assert 0 < count <= there[lane]
        share = max(1, int(slots * LANES[lane].max_share))
        assert load[lane] + count <= share
    assert asked["maint"] <= max(free, 0)


@given(st.integers(1, 3), st.sampled_from(sorted(RULES)))
def test_with_few_slots_no_lane_keeps_another_out(slots: int, flood: str) -> None:
    """One task of each lane waits while new ones of a single type keep coming: each gets its turn."""
    waiting = heads(*(name for name in RULES if name != flood))
    served: set[str] = set()
    for turn in range(4 * len(RULES)):
        left = [candidate for candidate in waiting if candidate.type not in served]
        coming = [Candidate(flood, 2, 100 + 10 * turn + place) for place in range(slots)]
        for request in plan_claims(slots, [], RULES, [*left, *coming], {"maint": 1}):
            mine = [one for one in [*left, *coming] if one.type in request.types]
            served |= {one.type for one in sorted(mine, key=lambda one: (one.bucket, one.rank))[: request.n]}
    assert served >= {candidate.type for candidate in waiting}


def test_the_only_slot_has_no_floor() -> None:
    assert plan(1, [Candidate("ask", 2, 9), Candidate("doc", 2, 1)]) == {"ingestion": 1}
    assert plan(2, [Candidate("ask", 2, 9), Candidate("doc", 2, 1), Candidate("doc", 2, 2)]) == {
        "queries": 1,
        "ingestion": 1,
    }

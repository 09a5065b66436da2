"""Identifiers, authors and payloads of papers."""

from __future__ import annotations

import json

import pytest

from kgsched.errors import InvalidValue
from kgsched.research.paper import Author, Paper, parse_identifier, split_authors, tidy


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2609.00004", ("2609.00004", None)),
        ("oai:arXiv.org:2609.00004v12", ("2609.00004", 12)),
        ("https://arxiv.org/pdf/2609.00004v2.pdf", ("2609.00004", 2)),
        ("0704.0001v1", ("0704.0001", 1)),
        ("oai:arXiv.org:hep-th/9901001v2", ("hep-th/9901001", 2)),
        ("http://arxiv.org/abs/math.GT/0309136", ("math.GT/0309136", None)),
    ],
)
def test_identifiers_of_all_ages_lose_their_version(text: str, expected: tuple[str, int | None]) -> None:
    assert parse_identifier(text) == expected


@pytest.mark.parametrize(
    "text", ["", "2613.00001", "2600.00001", "1234", "2609.00004v0", "x2609.00004", "../etc/passwd"]
)
def test_what_is_no_identifier_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="not an arXiv identifier"):
        parse_identifier(text)


def test_commas_in_affiliations_do_not_split_authors() -> None:
    assert split_authors("Ann Lee (North Lab, Room 3), Bob Ray Jr., O'Neil (West (old) House)") == (
        Author("Ann Lee", "North Lab, Room 3"),
        Author("Bob Ray Jr."),
        Author("O'Neil", "West (old) House"),
    )


@pytest.mark.parametrize("text", ["", " ", ", ,"])
def test_no_authors_are_no_authors(text: str) -> None:
    assert split_authors(text) == ()


def test_a_paper_survives_its_payload() -> None:
    paper = Paper(
        "hep-th/9901001", 2, "T", "A", (Author("Ann", "X"), Author("Bob")), ("hep-th",), "cross", "l", "p", "d"
    )
    assert Paper.from_payload(json.loads(json.dumps(paper.payload()))) == paper


@pytest.mark.parametrize("payload", [{}, {"arxiv_id": "2609.00004"}, {"arxiv_id": "2609.00004", "title": "T"}])
def test_a_payload_that_lacks_a_field_says_which(payload: dict[str, str]) -> None:
    with pytest.raises(InvalidValue, match="lacks '"):
        Paper.from_payload(payload)


def test_text_for_the_graph_has_no_surrogates_and_no_control_characters() -> None:
    assert tidy("a\ud800b\x00 \n c\x1b") == "ab c"

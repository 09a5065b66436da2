"""Cleaning and cutting of extracted text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kgsched.research.text import clean_pages, split_chunks

LONG = "This line is as wide as the page is and goes on to the next one"


def test_words_broken_at_line_ends_are_whole_again() -> None:
    assert clean_pages(["long-\nitude and well-\nKnown"]) == "longitude and well- Known"


def test_the_margin_stamp_is_dropped() -> None:
    assert "[cs.AI]" not in clean_pages([f"{LONG}\narXiv:2609.00004v1 [cs.AI] 15 Sep 2026\n{LONG}."])


def test_what_a_graph_cannot_store_is_dropped() -> None:
    assert clean_pages(["a\ud800b\x00c\x0cd \ufb01ne"]) == "abcd fine"


def test_a_short_last_line_ends_a_paragraph() -> None:
    assert clean_pages([f"{LONG}\nup to here.\n{LONG}"]) == f"{LONG} up to here.\n\n{LONG}"


def test_chunks_end_with_paragraphs_and_overlap_by_sentences() -> None:
    paragraphs = [
        f"Paragraph {number} begins. " + "It goes on for a while. " * 15 + f"Ends {number}." for number in range(6)
    ]
    chunks = split_chunks("\n\n".join(paragraphs))
    assert [chunk.seq for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk.text.endswith(tuple(f"Ends {number}." for number in range(6))) for chunk in chunks)
    assert all(len(chunk.text) <= 1400 for chunk in chunks)
    assert chunks[1].text.startswith("It goes on for a while.")


@given(st.text(alphabet=st.sampled_from("ab. \n"), max_size=6000))
def test_no_word_is_lost_and_no_chunk_is_huge(text: str) -> None:
    cleaned = clean_pages([text])
    chunks = split_chunks(cleaned, size=300, overlap=60)
    assert all(len(chunk.text) <= 300 + 60 + 4 for chunk in chunks)
    joined = " ".join(chunk.text for chunk in chunks)
    longest = max((word for word in cleaned.split() if len(word) <= 150), key=len, default="")
    assert longest in joined


def test_no_text_has_no_chunks() -> None:
    assert split_chunks("") == ()

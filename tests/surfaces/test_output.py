"""Tables and values on a stream that is no terminal, and JSON read strictly."""

from __future__ import annotations

import io

import pytest

from kgsched.core.json_text import parse_json
from kgsched.errors import InvalidValue
from kgsched.surfaces.cli.output import cell, confirm, print_pairs, print_table, visible
from kgsched.surfaces.cli.readable import print_result, short


def test_a_table_is_never_cut_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    long = "x" * 500
    print_table(("a", "b"), [{"a": long, "b": None}, {"a": "1\n2", "b": True}])
    out = capsys.readouterr().out.splitlines()
    assert out[0].split() == ["a", "b"]
    assert out[1] == f"{long}  -"
    assert out[2].split() == ["1⏎2", "yes"]


def test_an_empty_table_says_so_beside_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("a",), [], "no tasks match")
    assert capsys.readouterr() == ("", "no tasks match\n")


def test_pairs_leave_out_what_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    print_pairs([("one", 1), ("none", None), ("lists", [1, "ü"])])
    assert capsys.readouterr().out == 'one    1\nlists  [1, "ü"]\n'


def test_numbers_and_lists_are_one_line() -> None:
    assert [cell(value) for value in (False, 1.5, {"a": None})] == ["no", "1.5", '{"a": null}']


def test_without_a_terminal_a_change_needs_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    confirm("sure?", yes=True)
    with pytest.raises(InvalidValue, match="--yes"):
        confirm("sure?", yes=False)


@pytest.mark.parametrize(
    "text", ["", "{", "{'a': 1}", "NaN", '{"a": Infinity}', '{"a": 1, "a": 2}', "[1,]", "[" * 100_000, "1 2"]
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="payload is not"):
        parse_json("payload", text)


def test_json_over_a_mebibyte_is_refused_by_its_size() -> None:
    with pytest.raises(InvalidValue, match="the limit is 1048576"):
        parse_json("payload", '"' + "ü" * (1024 * 1024 // 2) + '"')


def test_what_a_terminal_would_obey_is_shown_as_an_escape() -> None:
    assert visible("a\x1b[31mb\x07\u202e\x9b\ud800") == "a\\u001b[31mb\\u0007\\u202e\\u009b\\ud800"
    assert visible("Grüße 任务\tand\nlines") == "Grüße 任务\tand\nlines"


def test_a_result_begins_with_its_single_values_in_its_own_order(capsys: pytest.CaptureFixture[str]) -> None:
    queued = [{"id": f"p{n}", "score": n} for n in range(12)]
    print_result({"queued": queued, "status": "ok", "seen_skipped": 14, "names": ["a", "b"], "by": {"x": 1}})
    out = capsys.readouterr().out.splitlines()
    assert out[:5] == ["status: ok", "seen_skipped: 14", "queued: 12", "  id=p0  score=0", "  id=p1  score=1"]
    assert out[-3:] == ["  … and 2 more; --json prints all", "names: a, b", "by: x=1"]


def test_long_lists_and_texts_are_told_by_their_size() -> None:
    assert short([0.1] * 512) == "[0.1, … 512 numbers]"
    assert short({"v": [1] * 20, "t": "a\nb"}) == '{"v": [1, … 20 numbers], "t": "a\\nb"}'
    assert len(short("x" * 5000)) == 200

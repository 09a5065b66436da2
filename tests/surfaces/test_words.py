"""key=value words, and the command lines that they stand for."""

from __future__ import annotations

import pytest

from kgsched.errors import UsageError
from kgsched.surfaces.cli.words import query_words, schedule_words


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("action=list", "schedules list"),
        ("action=list json=true", "schedules list --json"),
        ("action=list json=false", "schedules list"),
        ("action=show name=research_feed", "schedules show -- research_feed"),
        ("action=run_now name=research_feed", "schedules run-now -- research_feed"),
        ("name=x action=run_now wait=false priority=high", "schedules run-now --priority=high --no-wait -- x"),
        ("action=run_now name=x timeout=5 wait=yes", "schedules run-now --timeout=5 -- x"),
        ("action=enable name=x", "schedules enable -- x"),
        ("action=disable name=x", "schedules disable -- x"),
        ("action=prioritize name=loop_cycle priority=1", "schedules prioritize -- loop_cycle 1"),
        ("action=set_interval name=x interval_s=900", "schedules set-interval -- x 900"),
        ("action=apply", "schedules apply"),
        ("action=apply file=a.yml", "schedules apply -- a.yml"),
    ],
)
def test_words_of_graph_schedules_are_a_command_line(words: str, line: str) -> None:
    assert schedule_words(words.split()) == line.split()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "action is missing"),
        ("list", "'list' is not key=value"),
        ("name=x", "action is missing"),
        ("action=run-nwo name=x", "did you mean 'run_now'"),
        ("action=runnow name=x", "did you mean 'run_now'"),
        ("action=enable", "needs name="),
        ("action=enable name=", "needs name="),
        ("action=prioritize name=x", "needs priority="),
        ("action=set_interval name=x interval=5", "did you mean 'interval_s'"),
        ("action=enable name=x priority=1", "priority does not go with action=enable"),
        ("action=list action=show", "given twice"),
        ("action=list json=perhaps", "neither true nor false"),
    ],
)
def test_a_mistake_in_the_words_is_named(words: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        schedule_words(words.split())
    assert message in str(caught.value)
    assert caught.value.exit_code == 2


def test_words_of_graph_query_are_a_command_line() -> None:
    text = "MATCH (n) WHERE n.x=1 RETURN n"
    assert query_words([text]) == ["graph-query", "--", text]
    assert query_words([f"query={text}", "limit=5", "param.x=1=2", "json=true", "--json"]) == [
        "graph-query",
        *("--limit", "5", "--param", "x=1=2", "--json", "--json", "--", text),
    ]


@pytest.mark.parametrize(("words", "message"), [([], "usage"), (["RETURN 1", "limt=5"], "did you mean 'limit'")])
def test_a_mistake_in_the_words_of_graph_query_is_named(words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        query_words(words)
    assert message in str(caught.value)

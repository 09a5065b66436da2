"""The main job from the command line: the feed against a running daemon."""

from __future__ import annotations

import json

from kgsched.demo.arxiv_server import ArxivServer
from tests.acceptance.commands import Commands, until

FETCHES = (
    "MATCH (t:Task {type:'research_paper_fetch'}) RETURN t.id, t.prio_bucket, t.status, t.weight ORDER BY t.started_at"
)
SCHEDULES = (
    "MATCH (s:Schedule) WHERE s.name IN ['loop_cycle', 'research_feed'] RETURN s.trigger, s.prio_bucket ORDER BY s.name"
)
ARTICLES = "MATCH (a) WHERE a.id STARTS WITH 'article:scholarx:' RETURN count(a)"


def test_the_feed_queues_fetches_and_ingests_and_skips_what_was_seen(commands: Commands, arxiv: ArxivServer) -> None:
    with commands.daemon("--slots", "2") as daemon:
        first = json.loads(commands.run("kgsched", "schedules", "run-now", "research_feed", "--json").stdout)["result"]
        assert first["status"] == "ok"
        assert first["seen_skipped"] == 0
        assert (
            first["graded"]
            == first["feed_items"]
            == first["queued_full"] + first["ingested_marginal"] + first["rejected"]
        )
        assert first["queued_full"] >= 3
        assert first["ingested_marginal"] >= 1
        assert [set(one) >= {"id", "score", "bucket"} for one in first["queued"]] == [True] * len(first["queued"])

        def fetches() -> list[list[object]]:
            return _rows(commands, FETCHES)

        until(lambda: all(row[2] == "completed" for row in fetches()) and len(fetches()) == first["queued_full"])
        weights = [(row[1], -int(str(row[3]))) for row in fetches()]
        assert weights == sorted(weights), "the best papers were not fetched first"

        second = json.loads(commands.run("kgsched", "schedules", "run-now", "research_feed", "--json").stdout)["result"]
        assert second["seen_skipped"] == first["feed_items"]
        assert len(fetches()) == first["queued_full"]
        assert _rows(commands, ARTICLES) == [[first["queued_full"] + first["ingested_marginal"]]]
        assert daemon.end() == 0
    pdfs = [one.path for one in arxiv.asked("/pdf/")]
    assert len(pdfs) == len(set(pdfs)) == first["queued_full"]


def test_the_two_commands_that_take_words(commands: Commands) -> None:
    with commands.daemon() as daemon:
        listed = commands.run("graph_schedules", "action=list").stdout
        assert "research_feed" in listed
        assert "loop_cycle" in listed
        commands.run("graph_schedules", "action=disable", "name=research_feed")
        assert _enabled(commands) == [[False]]
        commands.run("graph_schedules", "action=enable", "name=research_feed")
        commands.run("graph_schedules", "action=prioritize", "name=loop_cycle", "priority=1")
        commands.run("graph_schedules", "action=set_interval", "name=research_feed", "interval_s=900")
        rows = _rows(commands, SCHEDULES)
        assert rows == [["every 1h", 1], ["every 15m", 2]]
        ran = commands.run("graph_schedules", "action=run_now", "name=research_feed", "json=true").stdout
        assert json.loads(ran)["result"]["status"] == "ok"
        assert daemon.end() == 0
    with commands.daemon() as daemon:
        rows = _rows(commands, "MATCH (s:Schedule {name: 'research_feed'}) RETURN s.trigger, s.enabled")
        assert rows == [["every 15m", True]], "what was changed live did not survive the restart"
        assert daemon.end() == 0


def _rows(commands: Commands, cypher: str) -> list[list[object]]:
    answer = json.loads(commands.run("graph_query", cypher, "--json").stdout)
    return [list(row.values()) if isinstance(row, dict) else row for row in answer["rows"]]


def _enabled(commands: Commands) -> list[list[object]]:
    return _rows(commands, "MATCH (s:Schedule {name: 'research_feed'}) RETURN s.enabled")

"""docs/research.md says what is in the graph; here the graph says whether that is so."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from kgsched.config import Settings
from kgsched.demo.arxiv_server import ArxivServer
from kgsched.research import LoopController
from kgsched.research.enrichment import enrich
from kgsched.research.grading import CRITICAL_FROM, MARGINAL_FROM, NOVELTY_FLOOR, RELEVANT_FROM
from kgsched.research.runner import FETCH_TYPE
from kgsched.research.taxonomy import DOMAINS
from kgsched.store import Neo4jStore
from tests.research.desk import next_task, sit_down
from tests.store.worlds import World

PAGE = Path(__file__).resolve().parents[2] / "docs" / "research.md"
KINDS: dict[str, type | tuple[type, ...]] = {
    "text": str,
    "integer": int,
    "time": int,
    "number": (int, float),
    "boolean": bool,
    "list": list,
}


def tables() -> dict[str, list[list[str]]]:
    """Rows of the first table below each heading of level three."""
    found: dict[str, list[list[str]]] = {}
    for section in re.split(r"^### ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        heading, _, body = section.partition("\n")
        rows = [line for line in body.splitlines() if line.startswith("|")]
        found[heading.strip()] = [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows[2:]]
    return found


async def fill(store: Neo4jStore, settings: Settings, arxiv: ArxivServer) -> None:
    """One tick of three papers, two of them fetched (one is withdrawn), then the next two days and enrichment."""
    loop = LoopController(settings)
    arxiv.withdrawn.add("2611.90002")
    await loop.run_rss_feed_screen(await sit_down(store), limit=3)
    for _ in range(2):
        desk = await next_task(store, FETCH_TYPE)
        assert desk is not None
        await loop.runner.ingest_paper_full(desk)
    arxiv.day = 2
    await loop.run_rss_feed_screen(await sit_down(store))
    await enrich(store.graph)


async def test_the_page_tells_the_truth(
    store: Neo4jStore, world: World, settings: Settings, arxiv: ArxivServer
) -> None:
    await fill(store, settings, arxiv)
    values: defaultdict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in await world.cypher("MATCH (n) RETURN labels(n) AS labels, properties(n) AS properties"):
        for label in row["labels"]:
            for name, value in row["properties"].items():
                values[label, name].append(value)
    documented = tables()
    relationships = documented.pop("Relationships")
    for label, rows in documented.items():
        for name, kind, _ in rows:
            assert values[label, name], f"no {label} has {name}"
            assert all(isinstance(value, KINDS[kind]) for value in values[label, name]), f"{label}.{name} is no {kind}"
    for start, kind, end, _ in relationships:
        assert await world.count(f"MATCH (:{start})-[:{kind}]->(:{end})"), f"no ({start})-[:{kind}]->({end})"
    assert await world.count("MATCH (a:Article) WHERE NOT a:Document") == 0


async def test_nothing_between_these_nodes_is_left_out(
    store: Neo4jStore, world: World, settings: Settings, arxiv: ArxivServer
) -> None:
    await fill(store, settings, arxiv)
    known = {(start, kind, end) for start, kind, end, _ in tables()["Relationships"]}
    rows = await world.cypher("""
        MATCH (a)-[r]->(b) WHERE NOT (a:Task AND b:Task) AND NOT a:Schedule
        RETURN DISTINCT [l IN labels(a) WHERE l <> 'Document'][0] AS start, type(r) AS kind,
          [l IN labels(b) WHERE l <> 'Document'][0] AS end""")
    found = {(row["start"], row["kind"], row["end"]) for row in rows}
    assert found - known - {("Task", "ATTEMPT", "Attempt")} == set()


def test_thresholds_and_domains_are_those_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"{CRITICAL_FROM} and more | relevant | `research_paper_fetch` in bucket 0" in text
    assert f"{RELEVANT_FROM} and more | relevant | `research_paper_fetch` in bucket 1" in text
    assert f"{MARGINAL_FROM} and more | marginal" in text
    assert f"novelty below {NOVELTY_FLOOR}" in text
    assert all(name in text for name in DOMAINS)


def test_settings_have_the_defaults_that_the_page_names() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in ("arxiv_categories", "pdf_max_bytes"):
        assert f"| KGSCHED_{name.upper()} | {Settings.model_fields[name].default} |" in text
    for name in ("research_feed_interval", "arxiv_interval", "pdf_timeout"):
        variable = "KG_RESEARCH_FEED_INTERVAL" if name.startswith("research") else f"KGSCHED_{name.upper()}"
        assert f"| {variable} | {Settings.model_fields[name].default:g} |" in text

"""`kgsched demo` on a database that is there: the real worker, the real services, two invented days."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from kgsched.config import Settings, load_settings
from kgsched.demo.run import run_demo
from kgsched.errors import Conflict
from kgsched.localdb import ServerAddress
from kgsched.store import Neo4jStore
from tests.store.worlds import World


@pytest.fixture
def user_settings(neo4j_server: ServerAddress) -> Settings:
    return load_settings(
        neo4j_uri=neo4j_server.uri,
        neo4j_user=neo4j_server.user,
        neo4j_password=SecretStr(neo4j_server.password),
        neo4j_database=neo4j_server.database,
    )


@pytest.mark.usefixtures("world")
async def test_the_demonstration_tells_what_was_fetched_demoted_skipped_and_kept(user_settings: Settings) -> None:
    said: list[str] = []
    result = await run_demo(user_settings, said.append)
    first, second = result.ticks
    assert (first["queued_full"], first["ingested_marginal"], first["rejected"]) == (7, 4, 3)
    assert (second["seen_skipped"], second["demoted"], second["queued_full"]) == (4, 1, 2)
    assert result.fetched[:3] == ("2611.90001", "2611.90002", "2611.90003")
    assert (result.counts["articles"], result.counts["seen"]) == (14, 17)
    assert all(row["has_full_text"] for row in result.graded if row["verdict"] == "relevant")
    told = "\n".join(said)
    assert told.index("Graph Memory for Multi-Agent Teams") < told.index("Tool Use under a Model Context Protocol")
    assert "demoted: Graph Memory for Multi-Agent Teams, Revisited" in told
    assert "skipped 4 seen before" in told
    assert "in the graph: 14 articles (9 with their full text" in told


async def test_a_database_in_use_is_not_touched(user_settings: Settings, store: Neo4jStore, world: World) -> None:
    task = await world.enqueue_one()
    with pytest.raises(Conflict, match="needs an empty database"):
        await run_demo(user_settings, lambda line: None)
    assert await world.status(task) == "pending"
    assert await world.count("MATCH (s:Schedule)") == 0

"""The schema: made once whoever starts at once, idempotent, and never on a database of a newer kgsched."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kgsched.errors import SchemaTooNew
from kgsched.localdb import ServerAddress
from kgsched.store import Neo4jStore
from kgsched.store.queries import statements
from kgsched.store.schema import migrations, recorded
from tests.conftest import open_store
from tests.store.crowd.actor import Actor, Address
from tests.store.crowd.crowd import Crowd
from tests.store.worlds import World

_SCHEMA = """SHOW INDEXES YIELD name, type, state, labelsOrTypes, properties, owningConstraint WHERE type <> 'LOOKUP'
  RETURN name, type, state, labelsOrTypes AS labels, properties, owningConstraint AS constraint ORDER BY name"""


async def schema(store: Neo4jStore) -> list[dict[str, object]]:
    return await store.graph.query(_SCHEMA)


async def drop_all(store: Neo4jStore) -> None:
    for kind in ("CONSTRAINT", "INDEX"):
        where = "" if kind == "CONSTRAINT" else "YIELD name, type WHERE type <> 'LOOKUP' RETURN name"
        for row in await store.graph.query(f"SHOW {kind}{'S' if kind == 'CONSTRAINT' else 'ES'} {where}"):
            async with store.graph.transaction() as tx:
                await tx.run(f"DROP {kind} {row['name']} IF EXISTS")
    async with store.graph.transaction() as tx:
        await tx.run("MATCH (m:Migration) DELETE m")


@pytest.fixture
async def bare(world: World) -> AsyncIterator[Neo4jStore]:
    """A database without any schema; it gets it back."""
    await drop_all(world.store)
    yield world.store
    await world.store.migrate()


async def migrator(actor: Actor) -> None:
    actor.log("migrated", await actor.store.migrate())
    (actor.folder / "stop").touch()


@pytest.mark.processes
async def test_eight_processes_at_once_migrate_an_empty_database(
    bare: Neo4jStore, neo4j_server: ServerAddress, tmp_path: Path
) -> None:
    address = Address(neo4j_server.uri, neo4j_server.user, neo4j_server.password, neo4j_server.database)
    with Crowd(address, tmp_path, [migrator] * 8) as crowd:
        await asyncio.to_thread(crowd.wait)
    assert crowd.errors == []
    assert sorted(await recorded(bare.client)) == list(migrations())
    indexes = await schema(bare)
    assert {row["state"] for row in indexes} == {"ONLINE"}
    assert await bare.migrate() == 0


async def test_a_second_run_changes_nothing_and_a_lost_record_is_made_up_for(world: World) -> None:
    before = await schema(world.store)
    assert await world.store.migrate() == 0
    await world.cypher("MATCH (m:Migration) WHERE m.number IN [2, 11] DELETE m")
    assert await world.store.migrate() == 2
    assert await schema(world.store) == before
    assert sorted(await recorded(world.store.client)) == list(migrations())


async def test_a_database_of_a_newer_kgsched_is_refused_and_left_alone(world: World) -> None:
    number = max(migrations()) + 1
    await world.cypher("CREATE (:Migration {number: $number, name: 'future', by: '9.9'})", number=number)
    await world.cypher("MATCH (m:Migration {number: 2}) DELETE m")
    try:
        with pytest.raises(SchemaTooNew, match=r"9\.9"):
            await world.store.migrate()
        assert 2 not in await recorded(world.store.client)
        assert (await world.store.schema_version())[0] == number
    finally:
        await world.cypher("MATCH (m:Migration {number: $number}) DELETE m", number=number)
        await world.store.migrate()


async def test_every_number_is_given_once_and_every_index_has_its_migration(world: World) -> None:
    files = [name for name in statements() if "schema/" in name]
    assert len(files) == len(migrations()), "two files have one number"
    names = {
        re.sub(r"(research/)?schema/\d{4}", lambda found: "research" if found[1] else "", one.name)
        for one in migrations().values()
    }
    names = {name.removeprefix("_") for name in names}
    assert {str(row["name"]) for row in await schema(world.store)} == names


async def test_server_and_edition_are_told(neo4j_server: ServerAddress) -> None:
    store = open_store(neo4j_server, pool=1)
    version, edition = await store.verify()
    await store.close()
    assert version.split(".")[0].isdigit()
    assert edition == "community"

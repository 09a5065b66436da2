"""One database as the rest of kgsched sees it."""

from __future__ import annotations

from kgsched.store.client import Client
from kgsched.store.cluster import Cluster
from kgsched.store.gates import Gates
from kgsched.store.graph import Graph
from kgsched.store.jobs import Jobs
from kgsched.store.schedules import Schedules
from kgsched.store.schema import migrate, migrations, recorded
from kgsched.store.task_reads import TaskReads
from kgsched.store.tasks import Tasks

__all__ = ["Neo4jStore", "probe"]


class Neo4jStore:
    """A connection pool and what can be asked over it. Bound to the event loop that first uses it."""

    def __init__(
        self, uri: str, user: str, password: str, database: str = "neo4j", *, pool: int = 16, timeout: float = 30.0
    ) -> None:
        self.client = Client(uri, user, password, database, pool=pool, timeout=timeout)
        self.gates = Gates(self.client)
        self._tasks = Tasks(self.client, self.gates)
        self._sweeps = Jobs(self.client, self.gates)
        self._schedules = Schedules(self.client, self.gates, self._tasks)
        self._cluster = Cluster(self.client)
        self._graph = Graph(self.client)
        self.reads = TaskReads(self.client)

    @property
    def tasks(self) -> Tasks:
        return self._tasks

    @property
    def sweeps(self) -> Jobs:
        return self._sweeps

    @property
    def schedules(self) -> Schedules:
        return self._schedules

    @property
    def cluster(self) -> Cluster:
        return self._cluster

    @property
    def graph(self) -> Graph:
        return self._graph

    async def verify(self) -> None:
        """Check that the server answers, and which one it is. Raises a StoreError that says what to do."""
        await self.client.verify()

    async def migrate(self) -> int:
        """Bring the schema up to date; return the number of migrations carried out."""
        return await migrate(self.client)

    async def schema_version(self) -> tuple[int, int]:
        """Greatest migration that the database has, and that this kgsched knows; 0 for none."""
        return max(await recorded(self.client), default=0), max(migrations())

    async def close(self) -> None:
        await self.client.close()


def probe(uri: str, user: str, password: str, database: str) -> None:
    """Log in and run one query, without an event loop. Raises the driver's error when that does not work."""
    from neo4j import GraphDatabase

    with GraphDatabase.driver(
        uri, auth=(user, password), connection_timeout=5.0, notifications_min_severity="OFF"
    ) as driver:
        driver.execute_query("RETURN 1", database_=database)

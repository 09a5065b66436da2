"""One database as the rest of kgsched sees it."""

from __future__ import annotations

from collections.abc import Iterable

from kgsched.store.answers import Answers
from kgsched.store.audit import Audit
from kgsched.store.client import Client
from kgsched.store.cluster import Cluster
from kgsched.store.events import Events
from kgsched.store.gates import Gates
from kgsched.store.graph import Graph
from kgsched.store.guarded_reader import GuardedReader
from kgsched.store.jobs import Jobs
from kgsched.store.login import probe
from kgsched.store.schedules import Schedules
from kgsched.store.schema import migrate, migrations, recorded
from kgsched.store.task_reads import TaskReads
from kgsched.store.tasks import Tasks
from kgsched.store.tokens import Tokens
from kgsched.store.uids import new_uid

__all__ = ["Neo4jStore", "probe"]


class Neo4jStore:
    """A connection pool and what can be asked over it. Bound to the event loop that first uses it."""

    def __init__(
        self, uri: str, user: str, password: str, database: str = "neo4j", *, pool: int = 16, timeout: float = 30.0
    ) -> None:
        self.client = Client(uri, user, password, database, pool=pool, timeout=timeout)
        self._gates = Gates(self.client)
        self._tasks = Tasks(self.client, self._gates)
        self._sweeps = Jobs(self.client, self._gates)
        self._schedules = Schedules(self.client, self._gates, self._tasks)
        self._cluster = Cluster(self.client)
        self._graph = Graph(self.client, self._gates)
        self._reads = TaskReads(self.client)
        self._tokens = Tokens(self.client)
        self._audit = Audit(self.client)
        self._answers = Answers(self.client)
        self._events = Events(self.client)
        self._guarded = GuardedReader(lambda: Client(uri, user, password, database, pool=1))

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
    def gates(self) -> Gates:
        return self._gates

    @property
    def graph(self) -> Graph:
        return self._graph

    @property
    def reads(self) -> TaskReads:
        return self._reads

    @property
    def guarded(self) -> GuardedReader:
        return self._guarded

    @property
    def tokens(self) -> Tokens:
        return self._tokens

    @property
    def audit(self) -> Audit:
        return self._audit

    @property
    def answers(self) -> Answers:
        return self._answers

    @property
    def events(self) -> Events:
        return self._events

    def new_uid(self, after: Iterable[str] = ()) -> str:
        """A uid for a new task, greater than each of `after`."""
        return new_uid(after)

    async def verify(self) -> tuple[str, str]:
        """Version and edition of the server that answers. Raises a StoreError that says what to do."""
        return await self.client.verify()

    async def migrate(self) -> int:
        """Bring the schema up to date; return the number of migrations carried out."""
        return await migrate(self.client)

    async def schema_version(self) -> tuple[int, int]:
        """Greatest migration that the database has, and that this kgsched knows; 0 for none."""
        return max(await recorded(self.client), default=0), max(migrations())

    async def close(self) -> None:
        await self._guarded.close()
        await self.client.close()

"""Whether a server takes a login and answers."""

from __future__ import annotations

from neo4j import GraphDatabase
from neo4j.exceptions import DriverError, Neo4jError

from kgsched.store.driver_errors import translate


def probe(uri: str, user: str, password: str, database: str) -> None:
    """Log in and run one query, without an event loop.

    Raises StorageConnectionError while the server is not ready, StoreError when it refuses the login.
    """
    try:
        with GraphDatabase.driver(
            uri, auth=(user, password), connection_timeout=5.0, notifications_min_severity="OFF"
        ) as driver:
            driver.execute_query("RETURN 1", database_=database)
    except (Neo4jError, DriverError, OSError) as error:
        raise translate(error, "login") from error

"""The only package that speaks to Neo4j."""

from kgsched.store.store import Neo4jStore, probe

__all__ = ["Neo4jStore", "probe"]

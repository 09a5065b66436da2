"""kgsched: a durable task scheduler that lives inside a Neo4j graph."""

__version__ = "0.1.0"

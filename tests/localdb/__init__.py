"""Tests of the managed Neo4j."""

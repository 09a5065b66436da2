"""Use-cases that every surface calls."""

"""A graph to test in: making tasks, moving time in the data, and checking from outside that nothing is broken."""

from tests.store.worlds.invariants import broken
from tests.store.worlds.making import EVERYTHING, new_task
from tests.store.worlds.world import World

__all__ = ["EVERYTHING", "World", "broken", "new_task"]

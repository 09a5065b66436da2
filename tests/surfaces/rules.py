"""What a worker of the types of these tests may claim."""

from __future__ import annotations

from kgsched.core.claiming import TypeRule

RULES = {"read": TypeRule(), "ask": TypeRule("queries"), "scheduled_job": TypeRule("maint")}

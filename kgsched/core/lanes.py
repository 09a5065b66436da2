"""Lanes: classes of work that share capacity rules."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lane:
    """Rules of one lane.

    floor: slots of each worker of 2 slots or more that this lane may claim before others; work-conserving.
    max_share: greatest part of a worker's slots that may run this lane, 1.0 means no bound.
    reserved_share: part of a worker's slots whose next free one goes to this lane first (none below 4 slots).
    hot_spare: one slot stays free for this lane in workers of 4 slots or more that handle such a type.
    cap: greatest number running in the whole cluster; None means no cap.
    timeout_ms: default bound of one run.
    """

    name: str
    floor: int = 0
    max_share: float = 1.0
    reserved_share: float = 0.0
    hot_spare: bool = False
    cap: int | None = None
    timeout_ms: int = 300_000


QUERIES = Lane("queries", floor=1, hot_spare=True, timeout_ms=120_000)
INGESTION = Lane("ingestion", timeout_ms=3_600_000)
CONNECTORS = Lane("connectors", timeout_ms=180_000)
RESEARCH = Lane("research", max_share=0.5, timeout_ms=1_800_000)
WORLDVIEW = Lane("worldview", timeout_ms=300_000)
EXTRACTION = Lane("extraction", reserved_share=0.25, timeout_ms=1_800_000)
ENRICHMENT = Lane("enrichment", timeout_ms=300_000)
MAINT = Lane("maint", cap=1, timeout_ms=600_000)

LANES = {
    lane.name: lane for lane in (QUERIES, INGESTION, CONNECTORS, RESEARCH, WORLDVIEW, EXTRACTION, ENRICHMENT, MAINT)
}
DEFAULT_LANE = INGESTION.name
BEST_EFFORT = frozenset(name for name, lane in LANES.items() if lane.cap is not None)

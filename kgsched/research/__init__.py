"""The research feed: arXiv's new papers, graded, queued and ingested.

Names are loaded when they are first used: the process that reads a PDF needs none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgsched.research.grading import score_paper
    from kgsched.research.loop import LoopController
    from kgsched.research.manifest import DeltaManifest
    from kgsched.research.novelty import ConceptMatcher
    from kgsched.research.runner import ResearchPipelineRunner
    from kgsched.research.source import get_recent_papers

__all__ = [
    "ConceptMatcher",
    "DeltaManifest",
    "LoopController",
    "ResearchPipelineRunner",
    "get_recent_papers",
    "score_paper",
]

_HOMES = {
    "ConceptMatcher": "novelty",
    "DeltaManifest": "manifest",
    "LoopController": "loop",
    "ResearchPipelineRunner": "runner",
    "get_recent_papers": "source",
    "score_paper": "grading",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

"""What holds in every graph that only kgsched writes, asked from outside on a quiet database."""

from __future__ import annotations

from collections.abc import Iterator

from kgsched.store import Neo4jStore

_BAD = "['failed', 'dead_letter', 'cancelled']"
_TERMINAL = "['completed', 'failed', 'dead_letter', 'cancelled']"

ALWAYS = {
    "ready if and only if pending and at no gate": """
        MATCH (t:Task) WHERE (t.ready IS NOT NULL) <> (t.status = 'pending' AND t.gate_waiting IS NULL)""",
    "ready is the bucket": "MATCH (t:Task) WHERE t.ready <> t.prio_bucket",
    "due_at if and only if scheduled": "MATCH (t:Task) WHERE (t.due_at IS NOT NULL) <> (t.status = 'scheduled')",
    "lease, token and lane if and only if running": """
        MATCH (t:Task) WHERE any(x IN [t.lease_expires_at, t.claim_token, t.running_lane]
                                 WHERE (x IS NOT NULL) <> (t.status = 'running'))""",
    "deps_left is the number of unmet edges": """
        MATCH (t:Task) WHERE t.status = 'blocked' AND t.unsettled IS NULL
          AND coalesce(t.deps_left, -1) <> COUNT { (t)-[:DEPENDS_ON {met: false}]->() }""",
    "blocked means an unmet edge, or unsettled": """
        MATCH (t:Task) WHERE t.status = 'blocked' AND t.unsettled IS NULL AND NOT coalesce(t.deps_left > 0, false)""",
    "deps_left only while blocked": "MATCH (t:Task) WHERE t.deps_left IS NOT NULL AND t.status <> 'blocked'",
    "unsettled only while blocked": "MATCH (t:Task) WHERE t.unsettled IS NOT NULL AND t.status <> 'blocked'",
    "nothing ran with an unmet edge": """
        MATCH (t:Task)-[edge:DEPENDS_ON {met: false}]->()
        WHERE t.status IN ['pending', 'scheduled', 'running', 'completed', 'failed', 'dead_letter']""",
    "met only when completed, or ignored": """
        MATCH (t:Task)-[edge:DEPENDS_ON {met: true}]->(p)
        WHERE p.status <> 'completed' AND edge.on_failure <> 'ignore'""",
    "a live key if and only if keyed, not over, and the key does not outlive the task": f"""
        MATCH (t:Task)
        WHERE (t.live_key IS NOT NULL)
          <> (t.key IS NOT NULL AND t.key_lasts IS NULL AND NOT t.status IN {_TERMINAL})""",
    "failed_at if and only if failed or dead": """
        MATCH (t:Task) WHERE (t.failed_at IS NOT NULL) <> (t.status IN ['failed', 'dead_letter'])""",
    "finished_at if and only if over": f"""
        MATCH (t:Task) WHERE (t.finished_at IS NOT NULL) <> (t.status IN {_TERMINAL})""",
    "gate_waiting only while pending": "MATCH (t:Task) WHERE t.gate_waiting IS NOT NULL AND t.status <> 'pending'",
    "gate_held only while ready or running": """
        MATCH (t:Task) WHERE t.gate_held IS NOT NULL AND NOT (t.status = 'running' OR t.ready IS NOT NULL)""",
    "a gated task is ready or running only when admitted": """
        MATCH (t:Task)
        WHERE t.gate IS NOT NULL AND (t.ready IS NOT NULL OR t.status = 'running') AND t.gate_held IS NULL""",
    "no gate is held past its limit": """
        MATCH (g:Gate) MATCH (held:Task {space: g.space, gate_held: g.key})
        WITH g, count(held) AS n, min(held.uid) AS uid WHERE n > g.limit
        MATCH (t:Task {uid: uid})""",
    "tick_of if and only if a tick that has not run": """
        MATCH (t:Task) WHERE (t.tick_of IS NOT NULL)
          <> (t.schedule IS NOT NULL AND t.status IN ['pending', 'scheduled', 'blocked'])""",
    "claims are attempts, crashes and runs given back": """
        MATCH (t:Task) WHERE t.attempts < 0 OR t.attempts > t.claims OR t.attempts > t.max_attempts""",
    "cancelled_because only on what is cancelled": """
        MATCH (t:Task) WHERE t.cancelled_because IS NOT NULL AND t.status <> 'cancelled'""",
    "a child's uid is greater than each parent's": """
        MATCH (t:Task)-[:DEPENDS_ON]->(p:Task) WHERE t.uid <= p.uid""",
    "the rank says the weight": """
        MATCH (t:Task) WHERE t.rank / 10000000000000000 <> 400 - t.weight""",
}
SWEPT = {
    "no mark is left": """
        MATCH (t:Task) WHERE any(x IN [t.unsettled, t.release_pending, t.cascade_pending, t.revive_pending]
                                 WHERE x IS NOT NULL)""",
    "no release is forgotten": """
        MATCH (t:Task {status: 'blocked'})-[:DEPENDS_ON {met: false}]->(:Task {status: 'completed'})""",
    "no cascade is forgotten": f"""
        MATCH (t:Task {{status: 'blocked'}})-[edge:DEPENDS_ON {{met: false}}]->(p:Task)
        WHERE p.status IN {_BAD} AND edge.on_failure <> 'hold'""",
    "nobody waits at a gate with room": """
        MATCH (g:Gate) MATCH (t:Task {space: g.space, gate_waiting: g.key})
        WHERE COUNT { MATCH (held:Task {space: g.space, gate_held: g.key}) } < g.limit""",
}


async def broken(store: Neo4jStore, *, swept: bool = True) -> list[str]:
    """Each invariant that does not hold, with up to three tasks; `swept`: the sweeps have nothing left to do."""
    found: list[str] = []
    for name, pattern in _chosen(swept):
        tail = " RETURN DISTINCT t.uid AS uid, t.status AS status, t.type AS type LIMIT 3"
        rows = await store.graph.query(pattern + tail)
        if rows:
            found.append(f"{name}: {rows}")
    cells = await store.sweeps.count_check()
    return found + [f"counters are the tasks: {cell}" for cell in cells]


def _chosen(swept: bool) -> Iterator[tuple[str, str]]:
    yield from ALWAYS.items()
    if swept:
        yield from SWEPT.items()

"""A small model of the queue: what every transition answers and leaves, in plain Python."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

BAD = ("failed", "dead_letter", "cancelled")
OVER = ("completed", *BAD)


@dataclass(slots=True)
class Edge:
    """What a task waits for."""

    parent: str
    rule: str
    met: bool = False


@dataclass(slots=True)
class Task:
    """A task as the model sees it. `far`: its eta lies ahead for ever."""

    uid: str
    bucket: int
    rank: int
    max_attempts: int
    key: str | None
    far: bool
    edges: list[Edge]
    status: str = "blocked"
    attempts: int = 0
    claims: int = 0
    token: str | None = None
    last: tuple[str, str] | None = None
    cancel_asked: bool = False
    because: str | None = None

    @property
    def over(self) -> bool:
        return self.status in OVER

    @property
    def waits(self) -> bool:
        return any(not edge.met for edge in self.edges)

    def settle(self) -> None:
        """The state of a task that nothing ended: blocked, scheduled or pending."""
        self.status = "blocked" if self.waits else "scheduled" if self.far else "pending"

    def leave(self, status: str, outcome: str) -> None:
        """Leave running, or be completed late."""
        assert self.token is not None or self.last is not None
        self.last = (self.token, outcome) if self.token else (self.last[0], outcome) if self.last else None
        self.status, self.token = status, None


@dataclass(slots=True)
class Model:
    """All tasks by uid, in the order in which they came."""

    tasks: dict[str, Task] = field(default_factory=dict)

    def holder(self, key: str | None) -> Task | None:
        """The live task of a key."""
        return next((one for one in self.tasks.values() if key and one.key == key and not one.over), None)

    def enqueue(self, task: Task) -> None:
        self.tasks[task.uid] = task
        for edge in task.edges:
            edge.met = self._fulfils(edge)
        self._start(task, None)

    def claimable(self, n: int) -> list[Task]:
        ready = [one for one in self.tasks.values() if one.status == "pending"]
        return sorted(ready, key=lambda one: (one.bucket, one.rank))[:n]

    def claim(self, uid: str, token: str) -> None:
        one = self.tasks[uid]
        assert one.status == "pending", one
        one.status, one.token = "running", token
        one.attempts, one.claims = one.attempts + 1, one.claims + 1

    def keeps(self, uid: str, token: str) -> bool:
        """Whether a beat under this token finds its claim."""
        return self.tasks[uid].token == token

    def finish(self, uid: str, token: str, outcome: str) -> str:
        one = self.tasks[uid]
        if one.token != token:
            if one.last is None or one.last[0] != token:
                return "refused"
            if one.last[1] in (outcome, "cancelled"):
                return "repeated"
            if not (one.last[1] == "reaped" and one.status == "pending" and outcome == "completed"):
                return "refused"
            verdict = "late"
        else:
            verdict = "won"
        ends = "cancelled" if outcome != "completed" and one.cancel_asked else outcome
        one.leave(ends, ends)
        self._ended(one)
        return verdict

    def reschedule(self, uid: str, token: str, outcome: str, *, delayed: bool) -> str:
        one = self.tasks[uid]
        if one.token != token:
            mine = one.last is not None and one.last[0] == token and one.last[1] in (outcome, "cancelled")
            return "repeated" if mine else "refused"
        one.attempts -= outcome != "retry"
        if one.cancel_asked:
            one.leave("cancelled", "cancelled")
        else:
            one.leave("scheduled" if delayed else "pending", outcome)
        self._ended(one)
        return "won"

    def reap(self, uid: str) -> str:
        one = self.tasks[uid]
        spent = one.attempts >= one.max_attempts
        one.leave("cancelled" if one.cancel_asked else "dead_letter" if spent else "pending", "reaped")
        self._ended(one)
        return one.status

    def cancel(self, uid: str) -> str:
        one = self.tasks[uid]
        if one.over:
            return "over"
        if one.status == "running":
            one.cancel_asked = True
            return "requested"
        one.status = "cancelled"
        self._ended(one)
        return "cancelled"

    def promote(self) -> None:
        for one in self.tasks.values():
            if one.status == "scheduled":
                one.status = "pending"

    def retry(self, uid: str) -> str:
        root = self.tasks[uid]
        if root.status not in BAD:
            return "not_dead"
        if self._dead_parents(root):
            return "parent_dead"
        if self.holder(root.key):
            return "key_taken"
        group = [one for one in self.tasks.values() if one is root or one.because == uid]
        for one in group:
            one.status, one.attempts, one.last, one.because, one.cancel_asked = "blocked", 0, None, None, False
        for one in group:
            for edge in one.edges:
                edge.met = edge.met or self._fulfils(edge)
        taken = {one.key: one.uid for one in self.tasks.values() if one.key and not one.over and one not in group}
        for one in sorted(group, key=lambda task: task.uid):
            self._start(one, taken.get(one.key) if one.key else None)
            if one.key and not one.over:
                taken[one.key] = one.uid
        for one in group:
            self._ended(one)
        return "retried"

    def _start(self, task: Task, holder: str | None) -> None:
        because = min(self._dead_parents(task), default=holder)
        if because is not None:
            task.status, task.because = "cancelled", because
        else:
            task.settle()

    def _dead_parents(self, task: Task) -> list[str]:
        """The roots of the bad ends that end this task, too."""
        parents = [self.tasks[edge.parent] for edge in task.edges if not edge.met and edge.rule == "cancel"]
        return [one.because or one.uid for one in parents if one.status in BAD]

    def _fulfils(self, edge: Edge) -> bool:
        status = self.tasks[edge.parent].status
        return status == "completed" or (edge.rule == "ignore" and status in BAD)

    def _ended(self, task: Task) -> None:
        """What waits for it hears of it, level by level."""
        level = [task] if task.over else []
        while level:
            level = [child for parent in level for child in self._hear(parent)]

    def _hear(self, parent: Task) -> Iterable[Task]:
        for child in self.tasks.values():
            for edge in child.edges:
                if edge.parent != parent.uid or edge.met:
                    continue
                if parent.status == "completed":
                    edge.met = True
                    if child.status == "blocked":
                        child.settle()
                elif child.status == "blocked" and edge.rule == "ignore":
                    edge.met = True
                    child.settle()
                elif child.status == "blocked" and edge.rule == "cancel":
                    child.status, child.because = "cancelled", parent.because or parent.uid
                    yield child

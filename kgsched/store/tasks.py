"""Transitions of tasks. Each method is one statement of the same name under cypher/tasks/."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kgsched.core.claiming import Candidate, TypeRule
from kgsched.core.limits import MAX_BATCH_BYTES
from kgsched.core.states import RETRYABLE, Status
from kgsched.core.task import Ack, AckAnswer, AckOutcome, AckReport, BeatReport, Claim, Enqueued, NewTask, Verdict
from kgsched.ports import Transaction
from kgsched.store.answers import done_once
from kgsched.store.client import Client
from kgsched.store.enqueuing import Enqueuing
from kgsched.store.gates import Gates, shard

BEAT_CHUNK = 100
PAYLOAD_CHUNK = 8
CLAIM_TIMEOUT = 20.0
_CLAIM_FIELDS = tuple(Claim.__dataclass_fields__)


class Tasks:
    """The task queue of one database."""

    def __init__(self, client: Client, gates: Gates) -> None:
        self._client, self._gates = client, gates
        self._enqueuing = Enqueuing(client, gates)

    async def enqueue(
        self, tasks: Sequence[NewTask], *, tx: Transaction | None = None, mark: str | None = None
    ) -> list[Enqueued]:
        return await self._enqueuing.enqueue(tasks, tx=tx, mark=mark)

    async def warm(self) -> None:
        """Ask for nothing, so that the server compiles what workers wait for: half a second each at a first call."""
        await self.look({}, (), 1)
        await self.claim({}, 1, token="", worker="", session="")
        await self.finish([])
        await self.reschedule([])
        await self.claim_capped("", {}, 1, token="", worker="", session="")

    async def look(
        self, rules: Mapping[str, TypeRule], capped: Sequence[str], n: int
    ) -> tuple[list[Candidate], dict[str, int]]:
        """Heads of what is ready for these types, and how many more may run in each capped lane."""
        row = (await self._client.run("tasks/look", rules=_rules(rules), capped=list(capped), n=n))[0]
        ready = [Candidate(type_, bucket, rank) for type_, bucket, ranks in row["ready"] for rank in ranks]
        return ready, dict(row["free"])

    async def claim(
        self, rules: Mapping[str, TypeRule], n: int, *, token: str, worker: str, session: str
    ) -> list[Claim]:
        """Claim up to n tasks of these types, in the order in which they should start."""
        rows = await self._client.run(
            "tasks/claim", rules=_rules(rules), n=n, token=token, worker=worker, session=session, timeout=CLAIM_TIMEOUT
        )
        return _claims(rows)

    async def claim_capped(
        self, lane: str, rules: Mapping[str, TypeRule], n: int, *, token: str, worker: str, session: str
    ) -> list[Claim]:
        """As claim, in a lane whose cap holds for the whole cluster."""
        rows = await self._client.run(
            "tasks/claim_capped",
            lane=lane,
            rules=_rules(rules),
            n=n,
            token=token,
            worker=worker,
            session=session,
            timeout=CLAIM_TIMEOUT,
        )
        return _claims(rows)

    async def read_claims(self, rules: Mapping[str, TypeRule], *, token: str, session: str) -> list[Claim]:
        """What runs under a token whose claim was not answered."""
        lanes = sorted({rule.lane for rule in rules.values()})
        rows = await self._client.run(
            "tasks/read_claims", rules=_rules(rules), token=token, session=session, lanes=lanes
        )
        return _claims(rows)

    async def read_payloads(self, claims: Sequence[Claim]) -> dict[str, str]:
        """Payloads (JSON text) by uid, as many as fit into the byte budget, at least one; ask again for the rest."""
        payloads: dict[str, str] = {}
        size = 0
        for start in range(0, len(claims), PAYLOAD_CHUNK):
            uids = [claim.uid for claim in claims[start : start + PAYLOAD_CHUNK]]
            rows = await self._client.run("tasks/read_payloads", uids=uids)
            for row in rows:
                payloads[row["uid"]] = row["payload"] or "{}"
                size += len(payloads[row["uid"]])
            if size >= MAX_BATCH_BYTES // 2:
                break
        return payloads

    async def beat(
        self, claims: Sequence[Claim], *, session: str, lanes: Sequence[str], known: Iterable[str], stranger_age_ms: int
    ) -> BeatReport:
        """Extend leases; say which claims are lost or asked to stop, and what runs here that nobody here knows."""
        lost: set[str] = set()
        stop: set[str] = set()
        strangers: dict[str, str] = {}
        known = list(known)
        for start in range(0, max(len(claims), 1), BEAT_CHUNK):
            chunk = claims[start : start + BEAT_CHUNK]
            rows = await self._client.run(
                "tasks/beat",
                claims=[{"uid": one.uid, "token": one.token, "lease_ms": one.lease_ms} for one in chunk],
                session=session,
                lanes=list(lanes),
                known=known,
                stranger_age_ms=stranger_age_ms,
                timeout=CLAIM_TIMEOUT,
            )
            for row in rows:
                lost.update(row["lost"])
                stop.update(row["cancel_requested"])
                strangers.update(dict(row["strangers"]))
        return BeatReport(frozenset(lost), frozenset(stop), tuple(sorted(strangers.items())))

    async def cancels(self, session: str, lanes: Sequence[str]) -> list[tuple[str, str]]:
        """Uid and token of what runs under this session and was asked to stop."""
        rows = await self._client.run("tasks/cancels", session=session, lanes=list(lanes), timeout=CLAIM_TIMEOUT)
        return [(row["uid"], row["token"]) for row in rows]

    async def extend(self, claim: Claim, lease_ms: int) -> bool:
        """Lengthen one lease; False when the claim is lost."""
        return bool(await self._client.run("tasks/extend", uid=claim.uid, token=claim.token, lease_ms=lease_ms))

    async def finish(self, acks: Sequence[Ack], *, tx: Transaction | None = None) -> AckReport:
        """Record how claims ended and release what waited. In a transaction: send it last, roll back unless won."""
        params: dict[str, Any] = {"acks": [ack.params() for ack in acks], "shard": shard()}
        if tx is not None:
            row = (await tx.named("tasks/finish", **params))[0]
            tx.owe(row["gates"])
            return _report(acks, row)
        row = (await self._client.run("tasks/finish", **params))[0]
        await self._gates.admit(row["gates"])
        return _report(acks, row)

    async def reschedule(self, acks: Sequence[Ack]) -> AckReport:
        """Give claims back: retry, snooze, release."""
        row = (await self._client.run("tasks/reschedule", acks=[ack.params() for ack in acks], shard=shard()))[0]
        await self._gates.admit(row["gates"])
        return _report(acks, row)

    async def read_outcome(self, claim: Claim) -> AckAnswer:
        """What became of a claim whose commit was not answered, under the task's lock: REPEATED if it is completed."""
        rows = await self._client.run("tasks/read_outcome", uid=claim.uid, token=claim.token)
        if not rows:
            return AckAnswer(Verdict.GONE, None)
        row = rows[0]
        verdict = Verdict.REPEATED if row["outcome"] == AckOutcome.COMPLETED else Verdict.REFUSED
        return AckAnswer(Verdict.WON if row["mine"] else verdict, Status(row["status"]))

    async def report_progress(self, claim: Claim, progress: str) -> bool:
        """Keep what the body says about its progress (JSON text); False when the claim is lost."""
        rows = await self._client.run("tasks/report_progress", uid=claim.uid, token=claim.token, progress=progress)
        return bool(rows)

    async def cancel(self, uids: Sequence[str]) -> dict[str, tuple[str, Status]]:
        """Per uid `cancelled`, `requested` or `over`, and the status; a uid that does not exist is absent."""
        row = (await self._client.run("tasks/cancel", uids=list(uids), shard=shard()))[0]
        await self._gates.admit(row["gates"])
        return {uid: (answer, Status(status)) for uid, answer, status in row["answers"]}

    async def retry(
        self, uid: str, by: str, n: int = 500, *, of: Iterable[Status] = RETRYABLE, mark: str | None = None
    ) -> dict[str, Any] | None:
        """Bring back a task that is in one of the states, and what was cancelled because of it; None when it is not
        there. Under the same mark it is brought back once.
        """
        params = {"uid": uid, "n": n, "shard": shard(), "by": by, "of": sorted(of)}
        rows = await done_once(self._client, "tasks/retry", params, mark, lambda row: row["answer"] == "retried")
        if not rows:
            return None
        await self._gates.admit(rows[0]["gates"])
        return rows[0]

    async def prioritize(self, uids: Sequence[str], prio_bucket: int, weight: int | None = None) -> list[str]:
        """Change bucket and weight; return the uids that were not over."""
        rows = [{"uid": uid, "prio_bucket": prio_bucket, "weight": weight} for uid in uids]
        changed: list[str] = (await self._client.run("tasks/prioritize", rows=rows))[0]["uids"]
        return changed


def _rules(rules: Mapping[str, TypeRule]) -> dict[str, dict[str, Any]]:
    return {
        name: {"lane": rule.lane, "lease_ms": rule.lease_ms, "grace_ms": rule.grace_ms} for name, rule in rules.items()
    }


def _claims(rows: Iterable[Mapping[str, Any]]) -> list[Claim]:
    claims = []
    for row in rows:
        values = {name: row[name] for name in _CLAIM_FIELDS}
        values["releases"] = values["releases"] or 0
        values["snoozes"] = values["snoozes"] or 0
        claims.append(Claim(**values))
    return sorted(claims, key=lambda claim: (claim.prio_bucket, claim.rank))


def _report(acks: Sequence[Ack], row: Mapping[str, Any]) -> AckReport:
    answers = {ack.uid: AckAnswer(Verdict.GONE, None) for ack in acks}
    for uid, verdict, status in row["answers"]:
        answers[uid] = AckAnswer(Verdict(verdict), Status(status))
    return AckReport(answers, row.get("released") or 0)

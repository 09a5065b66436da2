"""Claims: look, plan, claim; and find out what a claim with a lost answer took."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence

import structlog

from kgsched.core.claiming import ClaimRequest, TypeRule, plan_claims
from kgsched.core.lanes import LANES
from kgsched.core.task import Claim
from kgsched.errors import StorageConnectionError
from kgsched.ports import Store
from kgsched.runtime.leases import Leases
from kgsched.runtime.presence import Identity

log = structlog.get_logger(__name__)

Rules = Mapping[str, TypeRule]


class Claimer:
    """Takes tasks for the free slots of a worker. Each claim is held in `leases` and handed to `take` as it comes."""

    def __init__(self, leases: Leases, identity: Identity, slots: int, take: Callable[[Claim], None]) -> None:
        self._leases = leases
        self._identity = identity
        self._slots = slots
        self._take = take
        self._unknown: dict[str, float] = {}
        self._stopped = False

    def stop(self) -> None:
        """Send no further claim."""
        self._stopped = True

    @property
    def unsure(self) -> bool:
        """Whether the outcome of a claim is unknown."""
        return bool(self._unknown)

    async def adopt(self, store: Store, rules: Rules) -> None:
        """Take over what earlier claims with a lost answer took. After it their tokens are done with."""
        for token in list(self._unknown):
            claims = await store.tasks.read_claims(rules, token=token, session=self._identity.session)
            for claim in claims:
                sent_at = time.monotonic()
                if await store.tasks.extend(claim, claim.lease_ms):
                    self._hold(claim, sent_at)
            self._forget(token)
            log.info("claim_answer_lost", adopted=len(claims))

    async def claim(self, store: Store, rules: Rules, running: Sequence[str]) -> int:
        """Claim for the free slots; `running` names the type in each slot that is taken. Returns how many came."""
        free = self._slots - len(running)
        if free <= 0 or not rules:
            return 0
        capped = sorted({rule.lane for rule in rules.values() if _capped(rule.lane)})
        candidates, capped_free = await store.tasks.look(rules, capped, free)
        count = 0
        for request in plan_claims(self._slots, running, rules, candidates, capped_free):
            if self._stopped:
                break
            count += await self._ask(store, request, {name: rules[name] for name in request.types})
        return count

    async def _ask(self, store: Store, request: ClaimRequest, rules: Rules) -> int:
        token, sent_at = str(uuid.uuid4()), time.monotonic()
        worker, session = self._identity.worker, self._identity.session
        self._leases.expect(token)
        self._unknown[token] = sent_at
        try:
            if request.capped:
                claims = await store.tasks.claim_capped(
                    request.lane, rules, request.n, token=token, worker=worker, session=session
                )
            else:
                claims = await store.tasks.claim(rules, request.n, token=token, worker=worker, session=session)
        except StorageConnectionError:
            raise
        except Exception:
            self._forget(token)
            raise
        for claim in claims:
            self._hold(claim, sent_at)
        self._forget(token)
        return len(claims)

    def _hold(self, claim: Claim, sent_at: float) -> None:
        self._leases.add(claim, sent_at)
        self._take(claim)

    def _forget(self, token: str) -> None:
        del self._unknown[token]
        self._leases.settled(token)


def _capped(lane: str) -> bool:
    return lane in LANES and LANES[lane].cap is not None

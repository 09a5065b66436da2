"""Idempotency-Key: a request that is sent again under its key gets the first answer again."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgsched.core.access import Caller
from kgsched.core.limits import KEEP_ANSWERS_MS
from kgsched.errors import StoreError
from kgsched.ports import AnswerStore
from kgsched.surfaces.rest.problems import problem

log = structlog.get_logger(__name__)

HEADER = "idempotency-key"
REPEATED = "Idempotency-Replayed"
MARK = "mark"
PATIENCE_MS = 10_000  # a second request under way beside the first does no harm: deeds are done once
MAX_KEY = 255
MAX_KEPT = 512 * 1024
_CHANGING = frozenset({"POST", "PATCH"})


def key_of(caller: Caller, text: str) -> str:
    """What a client's key is stored under: its own for each space and token."""
    return hashlib.sha256(f"{caller.space}\0{caller.token or caller.name}\0{text}".encode()).hexdigest()


def mark_of(key: str, since: int, print_: str) -> str:
    """What the deeds of a request are known by, as long as its key is kept."""
    return hashlib.sha256(f"{key}\0{since}\0{print_}".encode()).hexdigest()[:32]


class Repeats:
    """Answers under `/v1/` and `/graph/` that something came of are kept for a day; what was refused is asked anew.

    An answer may be lost before it is kept: what the request did is known by its mark, and not done a second time.
    """

    def __init__(self, app: ASGIApp, answers: Callable[[], AnswerStore]) -> None:
        self._app, self._answers = app, answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        texts = headers.getlist(HEADER)
        text = ", ".join(texts) if texts else None
        if text is None or scope["method"] not in _CHANGING or not scope["path"].startswith(("/v1/", "/graph/")):
            await self._app(scope, receive, send)
            return
        if len(texts) > 1 or not 1 <= len(text) <= MAX_KEY or not text.isascii() or not text.isprintable():
            what = f"Idempotency-Key must be one header of 1 to {MAX_KEY} printable ASCII characters"
            refusal = problem(422, "invalid-value", what)
            await refusal(scope, receive, send)
            return
        await self._once(scope, receive, send, key_of(scope["state"]["caller"], text))

    async def _once(self, scope: Scope, receive: Receive, send: Send, key: str) -> None:
        request = await receive()
        condition = Headers(scope=scope).get("if-match", "").encode("latin-1")
        what = (scope["method"].encode(), scope["raw_path"], scope["query_string"])
        print_ = hashlib.sha256(b"\0".join((*what, condition, request.get("body", b"")))).hexdigest()
        holder = uuid.uuid4().hex
        row = await self._answers().take(key, print_, holder, KEEP_ANSWERS_MS, PATIENCE_MS)
        if not row["mine"]:
            await _told(row, print_)(scope, receive, send)
            return
        scope["state"][MARK] = mark_of(key, row["since"], print_)
        await self._carry_out(scope, request, receive, send, (key, holder, bool(row["again"])))

    async def _carry_out(
        self, scope: Scope, request: Message, receive: Receive, send: Send, taken: tuple[str, str, bool]
    ) -> None:
        answer = _Answer(send)
        first = True

        async def replay() -> Message:
            nonlocal first
            if first:
                first = False
                return request
            return await receive()

        try:
            await self._app(scope, replay, answer)
        finally:
            await self._remember(answer, *taken)
        await answer.end()  # kept before the client has it all, so that it never asks too early

    async def _remember(self, answer: _Answer, key: str, holder: str, again: bool) -> None:
        try:
            if 200 <= answer.status < 300 and len(answer.body) <= MAX_KEPT:
                text = answer.body.decode("utf-8", "replace")
                await self._answers().keep(key, holder, answer.status, text, answer.kind, answer.etag)
            else:
                refused = 400 <= answer.status < 500 and not again  # the first one may have been carried out
                await self._answers().release(key, holder, refused=refused)
        except StoreError as error:
            log.error("answer_not_kept", error=str(error))


class _Answer:
    """Passes a response on but for its last piece, and keeps it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status, self.kind, self.body = 500, "application/json", b""
        self.etag: str | None = None
        self._last: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            self.kind, self.etag = headers.get("content-type", self.kind), headers.get("etag")
        elif message["type"] == "http.response.body":
            if len(self.body) <= MAX_KEPT:
                self.body += message.get("body", b"")
            if not message.get("more_body", False):
                self._last = message
                return
        await self._send(message)

    async def end(self) -> None:
        if self._last is not None:
            await self._send(self._last)


def _told(row: dict[str, object], print_: str) -> ASGIApp:
    if row["print"] != print_:
        return problem(422, "key-reused", "this Idempotency-Key was sent with another request; use a fresh one")
    if row["status"] is None:
        text = (
            "the first request with this key is under way; send it again in a moment "
            f"(if its daemon died, that counts as lost after {PATIENCE_MS // 1000} s)"
        )
        return problem(409, "under-way", text, {"Retry-After": "1"})
    from starlette.responses import Response

    headers = {REPEATED: "true"} | ({"ETag": str(row["etag"])} if row["etag"] else {})
    return Response(str(row["body"]), int(str(row["status"])), headers, str(row["kind"]))

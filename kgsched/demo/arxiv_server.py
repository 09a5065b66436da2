"""A small arXiv on loopback: RSS feeds, query API and PDFs of invented papers, over real HTTP.

It can be told to misbehave: answer the next requests with given replies, be slow, break off, refuse hasty clients,
withdraw papers. It keeps a log of what it was asked.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import sys
import threading
import time
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, cast
from urllib.parse import parse_qs, quote, unquote, urlsplit

from kgsched.demo.arxiv_documents import Submission, api_error, api_feed, rss, rss_error
from kgsched.demo.papers import CATEGORIES, PAPERS, DemoPaper, as_cross, papers_of
from kgsched.demo.pdf_writer import write_pdf
from kgsched.errors import InvalidValue
from kgsched.research.paper import parse_identifier

EMPTY_CATEGORIES = ("cs.CL", "cs.IR", "cs.LG", "q-fin.TR")
_RSS_TYPE = {"Content-Type": "application/rss+xml", "Cache-Control": "max-age=3600"}
_API_TYPE = {"Content-Type": "application/atom+xml; charset=utf-8"}
_HTML = {"Content-Type": "text/html; charset=utf-8"}
_RANGE = re.compile(r"submittedDate:\[(\d{8})\d{4} TO (\d{8})\d{4}\]")
_CATEGORY = re.compile(r"cat:([\w.-]+)")
_SLICE = 2000


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer. `delay` in seconds comes before it; `drop` closes the connection after half of the body."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False
    chunked: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came; `at` is monotonic seconds."""

    path: str
    user_agent: str
    accept: str
    at: float
    status: int


class ArxivServer:
    """Serves day 1 (or, once `day` is set, day 2) until closed; use as a context manager. `url` is its base."""

    def __init__(self, day: int = 1, first_day: date | None = None, min_interval: float = 0.0) -> None:
        self.day, self.min_interval = day, min_interval
        self.first_day = first_day or datetime.now(UTC).date()
        self.log: list[Asked] = []
        self.withdrawn: set[str] = set()
        self.pdfs: dict[str, bytes] = {}
        self._scripts: defaultdict[str, deque[Reply | None]] = defaultdict(deque)
        self._lock = threading.Lock()
        self._last = float("-inf")
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        cast(Any, self._server).arxiv = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> ArxivServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def script(self, prefix: str, *replies: Reply | None) -> None:
        """Answer the next requests whose path begins with `prefix` in this way; None is the usual answer."""
        with self._lock:
            self._scripts[prefix].extend(replies)

    def asked(self, prefix: str) -> list[Asked]:
        """The log's requests whose path begins with `prefix`."""
        with self._lock:
            return [one for one in self.log if one.path.startswith(prefix)]

    def settings(self) -> dict[str, Any]:
        """Settings that point a client here."""
        bases = dict.fromkeys(("arxiv_rss_url", "arxiv_api_url", "arxiv_pdf_url"), self.url)
        return {**bases, "arxiv_categories": ",".join(CATEGORIES)}

    def reply(self, path: str, headers: Mapping[str, str]) -> Reply:
        """The answer to one request, logged."""
        with self._lock:
            now = time.monotonic()
            hasty, self._last = now - self._last < self.min_interval, now
            scripted = next(
                (queue.popleft() for key, queue in self._scripts.items() if queue and path.startswith(key)), None
            )
        if scripted is None and hasty:
            scripted = Reply(429, b"Rate exceeded.", {"Content-Type": "text/plain"})
        answer = scripted or self._usual(path, headers)
        with self._lock:
            agent, accept = headers.get("User-Agent") or "", headers.get("Accept") or ""
            self.log.append(Asked(path, agent, accept, now, answer.status))
        return answer

    def _usual(self, path: str, headers: Mapping[str, str]) -> Reply:
        parts = urlsplit(path)
        route = unquote(parts.path)
        if route.startswith("/rss/"):
            return self._tagged(self._rss(route.removeprefix("/rss/")), headers)
        if route == "/api/query":
            return self._api(parts.query)
        if route.startswith("/pdf/"):
            return self._pdf(route.removeprefix("/pdf/"), parts.query)
        return Reply(404, b"<h1>Not Found</h1>", _HTML)

    def _tagged(self, answer: Reply, headers: Mapping[str, str]) -> Reply:
        tag = hashlib.sha256(answer.body).hexdigest()
        tagged = replace(answer, headers={**answer.headers, "ETag": tag})
        return replace(tagged, status=304, body=b"") if headers.get("If-None-Match") == tag else tagged

    @property
    def today(self) -> date:
        return self.first_day + timedelta(days=self.day - 1)

    def _rss(self, spec: str) -> Reply:
        built = datetime.combine(self.today, datetime.min.time(), UTC) + timedelta(hours=5)
        asked = spec.split("+")
        for name in asked:
            if name not in CATEGORIES + EMPTY_CATEGORIES:
                subject = name.partition(".")[2] or name
                known = ", ".join(CATEGORIES + EMPTY_CATEGORIES)
                message = f"Bad subject class '{subject}'. Valid subject classes for the archive 'cs' are: {known}."
                return Reply(400, rss_error(spec, message, self.today, built), _RSS_TYPE)
        listed = (one for one in papers_of(self.day) if set(asked) & set(one.paper.categories))
        shown = [one if one.paper.categories[0] in asked else as_cross(one) for one in listed]
        shown.sort(key=lambda one: one.paper.announce_type != "new")
        return Reply(200, rss(spec, [one.paper for one in shown], self.today, built), _RSS_TYPE)

    def _api(self, query: str) -> Reply:
        words = {key: values[0] for key, values in parse_qs(query).items()}
        try:
            start, size = int(words.get("start", "0")), int(words.get("max_results", "10"))
            wanted = [parse_identifier(one)[0] for one in words.get("id_list", "").split(",") if one]
        except InvalidValue:
            bad = words["id_list"]
            return Reply(
                400, api_error(f"incorrect_id_format_for_{quote(bad)}", f"incorrect id format for {bad}"), _API_TYPE
            )
        except ValueError:
            return Reply(400, api_error("start_must_be_an_integer", "start must be an integer"), _API_TYPE)
        search = words.get("search_query", "")
        if not wanted and not search:
            return Reply(400, api_error("no_query", "search_query or id_list is needed"), _API_TYPE)
        found = self._search(search, wanted)
        if words.get("sortOrder") == "descending":
            found.reverse()
        page = found[start : start + min(size, _SLICE)]
        return Reply(200, api_feed(query, page, start, size, len(found), self.url), _API_TYPE)

    def _search(self, search: str, wanted: list[str]) -> list[Submission]:
        span, categories = _RANGE.search(search), set(_CATEGORY.findall(search))
        found = [Submission(one.paper, self.submitted(one)) for one in PAPERS if min(one.days) <= self.day]
        if wanted:
            found = [one for one in found if one.paper.arxiv_id in wanted]
        if categories:
            found = [one for one in found if categories & set(one.paper.categories)]
        if span:
            found = [one for one in found if span[1] <= f"{one.submitted:%Y%m%d}" <= span[2]]
        return sorted(found, key=lambda one: (one.submitted, one.paper.arxiv_id))

    def submitted(self, one: DemoPaper) -> datetime:
        """Noon of the day before its first announcement; replaced papers are half a year older."""
        days = min(one.days) - 2 - (180 if one.paper.announce_type.startswith("replace") else 0)
        return datetime.combine(self.first_day + timedelta(days=days), datetime.min.time(), UTC) + timedelta(hours=12)

    def _pdf(self, name: str, query: str) -> Reply:
        if name.endswith(".pdf") or query:
            return Reply(301, b"", {"Location": f"/pdf/{name.removesuffix('.pdf')}"})
        try:
            arxiv_id, _ = parse_identifier(name)
        except InvalidValue:
            return Reply(404, b"<h1>Unknown paper</h1>", _HTML)
        found = next((one for one in PAPERS if one.paper.arxiv_id == arxiv_id), None)
        if arxiv_id in self.withdrawn or (found is None and arxiv_id not in self.pdfs):
            return Reply(404, b"<!DOCTYPE html><h1>Withdrawn</h1>", _HTML)
        body = self.pdfs.get(arxiv_id) or write_pdf(found.paragraphs if found else ())
        headers = {
            "Content-Type": "application/pdf",
            "Content-Disposition": f'inline; filename="{name.replace("/", "__")}.pdf"',
            "ETag": hashlib.sha256(body).hexdigest(),
        }
        return Reply(200, body, headers, chunked=True)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        arxiv: ArxivServer = cast(Any, self.server).arxiv
        answer = arxiv.reply(self.path, cast(Mapping[str, str], self.headers))
        if answer.delay:
            time.sleep(answer.delay)
        try:
            self._send(answer)
        except ConnectionError:
            self.close_connection = True

    def _send(self, answer: Reply) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.chunked and not answer.drop:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for start in range(0, len(answer.body), 4096):
                part = answer.body[start : start + 4096]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.write(b"0\r\n\r\n")
            return
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if answer.drop:
            self.wfile.write(answer.body[: len(answer.body) // 2])
            self.close_connection = True
            return
        self.wfile.write(answer.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Nothing: `ArxivServer.log` has it."""


def main() -> None:
    """Serve until Ctrl-C; the first line on stdout is the base URL."""
    with ArxivServer() as arxiv:
        sys.stdout.write(f"{arxiv.url}\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()

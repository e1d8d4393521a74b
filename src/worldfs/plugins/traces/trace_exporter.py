"""Sends the traces of ended jobs to an OTLP/HTTP receiver, from a thread of its own: a job waits for nothing."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import urlsplit

from worldfs.base.clock import Clock
from worldfs.base.errors import BadInput, WorldError
from worldfs.base.extras import require
from worldfs.base.given_file import open_given_file
from worldfs.base.messages import coded
from worldfs.base.model import Finding, Job

from .job_spans import ROOT, JobSpan, SeenEvent, job_spans, span_id, trace_id

if TYPE_CHECKING:
    from types import TracebackType

    from opentelemetry.sdk.trace import ReadableSpan

ADDRESS: Final = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"  # the variables of the standard
BASE_ADDRESS: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
EVENTS_MOST: Final = 10_000  # that wait for the thread; more are dropped
JOBS_MOST: Final = 10_000  # that have not ended
TIMEOUT_S: Final = 3.0  # of one request, with its repetitions
LEAVE_S: Final = 5.0  # for what waits, at the end
TRACE_MOST: Final = 64 * 1024 * 1024  # bytes of a session's trace that are read
ENDS: Final = ("ended", "lost")
ALERT: Final = "/traces"

Alert = Callable[[str, Finding | None], None]


def trace_address(given: str, environ: Mapping[str, str]) -> str:
    """Where traces go: what was given, else what the standard's variables say; "": nowhere. `BadInput` for no URL."""
    base = environ.get(BASE_ADDRESS, "").rstrip("/")
    found = given or environ.get(ADDRESS, "") or (f"{base}/v1/traces" if base else "")
    if not found:
        return ""
    parts = urlsplit(found)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput(coded("plugin.no_receiver", url=found), op="up", expected="http://127.0.0.1:4318", code="USAGE")
    return found if parts.path.strip("/") else f"{found.rstrip('/')}/v1/traces"


class TraceExporter:
    """Called by the kernel with each event of a job; it never blocks and never raises."""

    def __init__(self, url: str, root: Path, clock: Clock, alert: Alert) -> None:
        """`root`: of the workspace, below which sessions keep their traces. Raises `MissingRequirement`."""
        require("otel", op="up")
        self.url, self._root, self._clock, self._alert = url, root, clock, alert
        self.dropped = 0
        self._events: queue.Queue[SeenEvent | None] = queue.Queue(EVENTS_MOST)
        self._open: dict[str, list[SeenEvent]] = {}
        self._down = False
        self._sender = _Sender(url)
        self._thread = threading.Thread(target=self._run, name="paos-traces", daemon=True)
        self._thread.start()

    def __call__(self, what: str, job: Job) -> None:
        try:
            self._events.put_nowait(SeenEvent(what, job, int(self._clock.now().timestamp() * 1e9)))
        except queue.Full:
            self.dropped += 1

    def close(self) -> None:
        """Sends what waits, but not for longer than `LEAVE_S`."""
        try:
            self._events.put_nowait(None)
        except queue.Full:
            self._sender.close()
        self._thread.join(LEAVE_S)
        self._sender.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    # -- the thread

    def _run(self) -> None:
        while (event := self._events.get()) is not None:
            batch = [event]
            last = False
            with suppress(queue.Empty):
                while not last:
                    more = self._events.get_nowait()
                    last = more is None
                    batch += [more] if more is not None else []
            self._send([span for one in batch for span in self._ended(one)])
            if last:
                return

    def _ended(self, event: SeenEvent) -> list[tuple[str, JobSpan]]:
        """The spans of a job, if this event is its end."""
        id = event.job.id
        if event.what not in ENDS:
            if id in self._open or len(self._open) < JOBS_MOST:
                self._open.setdefault(id, []).append(event)
            return []
        seen = [*self._open.pop(id, []), event]
        return [(id, span) for span in job_spans(seen, self._lines(event.job))]

    def _lines(self, job: Job) -> list[bytes]:
        """The lines of a session's trace."""
        outcome = job.status.outcome
        path = outcome.evidence.get("trace_path") if outcome is not None else None
        if not isinstance(path, str) or not path or ".." in Path(path).parts or Path(path).is_absolute():
            return []
        try:
            with open(open_given_file(self._root / path, op="send traces"), "rb") as file:
                return file.read(TRACE_MOST).splitlines()
        except (OSError, WorldError):  # removed, or never there: the job's own spans are sent
            return []

    def _send(self, spans: list[tuple[str, JobSpan]]) -> None:
        """One alert while the receiver is down; what could not be sent is dropped."""
        if not spans:
            return
        why = self._sender.send(spans)
        if not why:
            if self._down:
                self._down = False
                self._alert(ALERT, None)
            return
        self.dropped += len(spans)
        if not self._down:
            self._down = True
            found, fix = coded("plugin.receiver_down", why=why), coded("plugin.receiver_fix")
            self._alert(ALERT, Finding("TRACES_LOST", self.url, coded("plugin.receiver_up"), found, fix, warning=True))


class _Sender:
    """The SDK's exporter, with spans whose ids and times are given."""

    def __init__(self, url: str) -> None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope

        import worldfs

        logging.getLogger("opentelemetry").addHandler(logging.NullHandler())  # the alert says it; no line on stderr
        self._exporter = OTLPSpanExporter(url, timeout=TIMEOUT_S)
        self._resource = Resource.create({"service.name": "worldfs", "service.version": worldfs.__version__})
        self._scope = InstrumentationScope("worldfs", worldfs.__version__)

    def send(self, spans: list[tuple[str, JobSpan]]) -> str:
        """Why they could not be sent; "" when they were."""
        from opentelemetry.sdk.trace.export import SpanExportResult

        try:
            sent = self._exporter.export([self._readable(job, span) for job, span in spans])
        except Exception as error:  # whatever the exporter's libraries raise: a trace ends no kernel
            return f"{type(error).__name__}: {error}"
        return "" if sent is SpanExportResult.SUCCESS else "no answer, or a refusal"

    def close(self) -> None:
        self._exporter.shutdown()  # type: ignore[no-untyped-call]  # the SDK's

    def _readable(self, job: str, span: JobSpan) -> ReadableSpan:
        from opentelemetry.sdk.trace import Event, ReadableSpan
        from opentelemetry.trace import Link, SpanContext, SpanKind, TraceFlags
        from opentelemetry.trace.status import Status, StatusCode

        def context(of: str, key: str) -> SpanContext:
            return SpanContext(trace_id(of), span_id(of, key), is_remote=False, trace_flags=TraceFlags(1))

        return ReadableSpan(
            name=span.name,
            context=context(job, span.key),
            parent=context(job, span.parent) if span.parent else None,
            resource=self._resource,
            attributes=span.attributes,
            events=[Event(name, timestamp=at) for name, at in span.events],
            links=[Link(context(other, ROOT)) for other in span.links],
            kind=SpanKind.INTERNAL,
            status=Status(StatusCode.ERROR, span.error) if span.error else Status(StatusCode.OK),
            start_time=span.start,
            end_time=max(span.start, span.end),
            instrumentation_scope=self._scope,
        )

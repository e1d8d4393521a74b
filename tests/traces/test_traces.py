"""Jobs as OpenTelemetry traces, at a real OTLP/HTTP receiver on loopback."""

from __future__ import annotations

import gzip
import json
import queue
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from worldfs.base.clock import SystemClock
from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.model import Cause, Finding, Job, JobState, JobStatus, Order, Outcome
from worldfs.interfaces.cli.main import main
from worldfs.plugins.traces import SeenEvent, TraceExporter, job_spans, span_id, trace_address, trace_id

DAY = "2026-11-23T10:00:"


class Receiver:
    """A receiver that decodes what it is sent; `answer` is its HTTP status, None: it never answers."""

    def __init__(self) -> None:
        self.answer: int | None = 200
        self.spans: queue.Queue[object] = queue.Queue()
        self.asked, self.leave = threading.Event(), threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"]))
                outer.asked.set()
                if outer.answer is None:
                    outer.leave.wait()
                    return
                request = ExportTraceServiceRequest()
                request.ParseFromString(
                    gzip.decompress(data) if self.headers.get("Content-Encoding") == "gzip" else data
                )
                self.send_response(outer.answer)
                self.end_headers()
                if outer.answer == 200:
                    outer.spans.put([s for r in request.resource_spans for c in r.scope_spans for s in c.spans])

            def log_message(self, *words: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/traces"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.leave.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.close()


def job(id: str = "act_1", outcome: Outcome | None = None, **more: object) -> Job:
    status: dict[str, object] = {"accepted_at": f"{DAY}00.000001Z", "attempt": 1, **more}
    if outcome is not None:
        status |= {"completed_at": f"{DAY}09Z", "outcome": outcome}
        status |= {"state": JobState.SUCCEEDED if outcome.ok else JobState.FAILED}
    return Job(Order(id, "arm_1", "pick_up", {"object_id": "secret"}, asker="planner"), JobStatus(**status))


def seconds(s: float) -> int:
    return 1_795_428_000_000_000_000 + int(s * 1e9)


def test_wait_judging_each_attempt_and_each_answer_of_a_policy() -> None:
    trace = [json.dumps({"step": n, "t": n, "policy_at": n, "policy_ms": 500}).encode() for n in (1, 2)]
    done = Outcome.success("held", steps=3, trace_path="x")
    seen = [
        SeenEvent("accepted", job(), seconds(0)),
        SeenEvent("asked", job(), seconds(0.5)),
        SeenEvent("started", job(), seconds(1)),
        SeenEvent("retry", job(started_at=f"{DAY}02Z"), seconds(3)),
        SeenEvent("started", job(), seconds(4)),
        SeenEvent("ended", job(outcome=done, started_at=f"{DAY}05Z", attempt=2), seconds(9)),
    ]
    spans = {span.key: span for span in job_spans(seen, [*trace, b"cut off {", b'{"policy_ms": "x"}'])}
    at = {key: (span.start - seconds(0), span.end - seconds(0)) for key, span in spans.items()}
    assert at == {
        "job": (1000, 9 * 10**9),
        "wait": (1000, 10**9),
        "judge 1": (10**9, 2 * 10**9),
        "run 1": (2 * 10**9, 3 * 10**9),
        "judge 2": (4 * 10**9, 5 * 10**9),
        "run 2": (5 * 10**9, 9 * 10**9),
        "policy 0": (int(5.5e9), 6 * 10**9),
        "policy 1": (int(6.5e9), 7 * 10**9),
    }
    assert spans["policy 0"].parent == "run 2" and spans["wait"].events == (("asked", seconds(0.5)),)
    assert spans["job"].attributes["worldfs.evidence.steps"] == 3
    assert "secret" not in str(spans["job"])  # parameters may be private


def test_a_refusal_has_no_run_and_is_an_error() -> None:
    refused = Outcome.failure(Cause.REJECTED, "CRITIC_REFUSED", "out of reach")
    spans = job_spans([SeenEvent("started", job(), seconds(1)), SeenEvent("ended", job(outcome=refused), seconds(2))])
    assert [span.key for span in spans] == ["job", "wait", "judge 1"]
    assert spans[0].error == "out of reach" and spans[0].attributes["worldfs.cause"] == "rejected"


def test_ids_are_those_of_the_job_in_every_process() -> None:
    assert f"{trace_id('act_1'):032x}" == "3686d845a7eb129532113b1bceb44f19"
    assert f"{span_id('act_1', 'job'):016x}" == "88ab86f0405f53aa"


def test_paos_up_sends_a_job_to_a_receiver(
    tmp_path: Path, receiver: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    home = str(tmp_path / "home")
    assert main(["--home", home, "onboard"]) == 0
    order = {"action_id": "a1", "action_type": "pick_up", "params": {"object_id": "nothing"}, "robot_id": "franka_001"}
    (tmp_path / "action").write_text(json.dumps({"queue": [order]}))
    assert main(["--home", home, "write", "ACTION.md", str(tmp_path / "action")]) == 0
    base = receiver.url.removesuffix("/v1/traces")
    assert main(["--home", home, "up", "--until-idle", "--no-cameras", "--traces", base]) == 0
    spans = {span.name: span for span in receiver.spans.get()}
    root, judge = spans["pick_up"], spans["judge"]
    assert int.from_bytes(root.trace_id, "big") == trace_id("a1") and not root.parent_span_id
    assert int.from_bytes(root.span_id, "big") == span_id("a1", "job") == int.from_bytes(judge.parent_span_id, "big")
    assert (
        root.start_time_unix_nano <= judge.start_time_unix_nano <= judge.end_time_unix_nano <= root.end_time_unix_nano
    )
    assert {one.key: one.value.string_value for one in root.attributes}["worldfs.node"] == "franka_001"
    assert root.status.code == 2 and "nothing" in root.status.message


def test_a_receiver_that_is_down_is_one_alert_and_recovers(tmp_path: Path, receiver: Receiver) -> None:
    heard: queue.Queue[Finding | None] = queue.Queue()
    receiver.answer = 400
    with TraceExporter(receiver.url, tmp_path, SystemClock(), lambda where, found: heard.put(found)) as exporter:
        for n in (1, 2):
            exporter("ended", job(f"act_{n}", Outcome.success("ok")))
        found = heard.get()
        assert found is not None and found.code == "TRACES_LOST"
        while exporter.dropped < 4:  # two spans a job
            threading.Event().wait(0.01)
        receiver.answer = 200
        exporter("ended", job("act_3", Outcome.success("ok")))
        assert heard.get() is None and heard.empty()
        assert {span.name for span in receiver.spans.get()} == {"pick_up", "wait"}


def test_a_receiver_that_never_answers_holds_up_nothing(
    tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worldfs.plugins.traces.trace_exporter.EVENTS_MOST", 5)
    monkeypatch.setattr("worldfs.plugins.traces.trace_exporter.LEAVE_S", 0.01)
    receiver.answer = None
    exporter = TraceExporter(receiver.url, tmp_path, SystemClock(), lambda where, found: None)
    exporter("ended", job("act_0", Outcome.success("ok")))
    receiver.asked.wait()
    for n in range(20):  # the thread is stuck: the queue is full, and the caller goes on
        exporter("ended", job(f"act_{n + 1}", Outcome.success("ok")))
    assert exporter.dropped == 15
    exporter.close()


@pytest.mark.parametrize("url", ["collector:4318", "ftp://x/", "http://"])
def test_no_receiver(url: str) -> None:
    with pytest.raises(BadInput):
        trace_address(url, {})


def test_where_traces_go() -> None:
    assert trace_address("", {}) == ""
    assert trace_address("http://h:1", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://other:2"}) == "http://h:1/v1/traces"
    assert trace_address("", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h:1/"}) == "http://h:1/v1/traces"
    assert trace_address("", {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://h:1/mine"}) == "http://h:1/mine"


def test_without_its_library_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worldfs.base.extras.find_spec", lambda name: None)
    with pytest.raises(MissingRequirement) as raised:
        TraceExporter("http://h:1/v1/traces", tmp_path, SystemClock(), lambda where, found: None)
    assert raised.value.fix == "pip install 'worldfs[otel]'"

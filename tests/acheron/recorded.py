"""The recorded exchanges, and how each is said again: a label of the record becomes a frame or a few."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from worldfs.testing.waiting import until
from worldfs.wire import frames

from .compared import Names
from .stand import Wire

PLACE = Path(__file__).resolve().parents[1] / "fixtures/acheron"
Json = dict[str, Any]

INPUT = "/agents/self/chat/control/input"
WAIT, NEXT = "/agents/self/events/control/wait.json", "/agents/self/events/next.json"
READ_ONLY = "/agents/self/services/SCHEMA.json"


class Exchange(NamedTuple):
    at: int  # its line in the record, from 0
    label: str  # who asked
    asked: Any
    answered: Any

    @property
    def name(self) -> str:
        """What it is called in the table of differences."""
        if isinstance(self.asked, str):
            return self.asked
        for word in ("control", "acheron", "write"):
            if word in self.asked:
                return str(self.asked[word])
        return next(iter(self.asked), "")


def exchanges(file: str) -> list[Exchange]:
    lines = (PLACE / file).read_text().splitlines()
    found = [json.loads(line) for line in lines]
    return [Exchange(at, item["label"], item.get("req"), item["res"]) for at, item in enumerate(found)]


def say_control(wire: Wire, exchange: Exchange, names: Names) -> Any:
    """A control operation, or one of the frames that only have a label."""
    asked, answered = exchange.asked, exchange.answered
    if isinstance(asked, str):
        frame = {
            "project_create without id/correlation": {
                "channel": "control",
                "type": "control.project_create",
                "payload": {"name": "x"},
            },
            "control.bogus": {"channel": "control", "type": "control.bogus", "payload": {}},
            "not json": "not json",
            "no channel": {"type": "control.ping"},
            "control.pong": {"channel": "control", "type": "control.pong", "id": "q"},
        }[asked]
        wire.say(frame)
        return wire.hear()
    if "acheron" in asked:
        return say_acheron(wire, exchange, names)
    frame = {"channel": "control", "type": f"control.{asked['control']}", "id": answered["id"]}
    return wire.ask({**frame, "payload": names.said(asked["payload"])})


def say_acheron(wire: Wire, exchange: Exchange, names: Names) -> Any:
    fields = {key: value for key, value in exchange.asked.items() if key != "acheron"}
    frame = {"channel": "acheron", "type": f"acheron.{exchange.asked['acheron']}", "tag": exchange.answered["tag"]}
    return wire.ask({**frame, **names.said(fields)})


def mended(answered: Any) -> Any:
    """The metrics of the record lack their last brace (D13)."""
    broken = isinstance(answered, dict) and "INVALID_JSON" in answered
    return json.loads(answered["INVALID_JSON"] + "}") if broken else answered


def say_namespace(wire: Wire, exchange: Exchange, names: Names) -> Any:
    """What the record calls "write", "wait.json", or by a label, with the answer in the record's shape."""
    asked = exchange.asked
    if isinstance(asked, dict):
        if "acheron" in asked:
            return say_acheron(wire, exchange, names)
        if "write" in asked:
            return _write(wire, asked["write"], asked["data"])
        return _bare(_tried(wire, WAIT, asked["wait.json"]))
    if asked in _LABELS:
        return _LABELS[asked](wire)
    job_status = str(names.said("/agents/self/jobs/job-1/status.json"))
    if asked == "write job status (writable!)":
        return _tried(wire, job_status, "tampered")
    if asked == "status after tamper":
        return wire.read(job_status).decode()
    if asked.startswith("next.json #"):
        return _timed(wire, NEXT)
    if asked.startswith("/"):
        path = str(names.said(asked))
        # They read first, which waits for the end, and looked at the size then.
        text = wire.read(path).decode()
        return [text, wire.stat(path)]
    raise AssertionError(f"nobody knows how to say {asked!r}")


def _write(wire: Wire, path: str, data: Any) -> Json:
    body = data if isinstance(data, str) else json.dumps(data)
    home = path.partition("/control/")[0]
    done = _tried(wire, path, body)

    def ended() -> str:
        status = wire.read(f"{home}/status.json").decode()
        return "" if json.loads(status).get("state") == "running" else status

    status = until(ended)
    return {
        "write": {key: value for key, value in done.items() if key in ("type", "ok", "payload", "error")},
        "status.json": status,
        "result.json": wire.read(f"{home}/result.json").decode(),
    }


def _tried(wire: Wire, path: str, body: str, **more: Any) -> Json:
    assert wire.walk(path)["ok"], path
    return wire.acheron("t_write", fid=7, data_b64=frames.pack(body.encode()), **more)


def _bare(found: Json) -> Json:
    return {key: value for key, value in found.items() if key in ("ok", "payload", "error")}


def _timed(wire: Wire, path: str) -> list[Any]:
    began = time.monotonic()
    return [wire.read(path).decode(), round(time.monotonic() - began, 2)]


def _read_only(wire: Wire, op: str, **more: Any) -> Json:
    assert wire.walk(READ_ONLY)["ok"]
    return wire.acheron(op, fid=7, **more)


def _raw(frame: Json) -> Callable[[Wire], Json]:
    def say(wire: Wire) -> Json:
        wire.say(frame)
        return wire.hear()

    return say


def _jobs(wire: Wire) -> str:
    return wire.read("/agents/self/jobs").decode()


def _text(path: str) -> Callable[[Wire], str]:
    return lambda wire: wire.read(path).decode()


def _said(wire: Wire, text: str, **more: Any) -> Json:
    """Theirs blocks until the run ends (D39): here the end is waited for, so that ends come in the order of writes."""
    found = _tried(wire, INPUT, text, **more)
    if "job" in found["payload"]:
        wire.read(f"/agents/self/jobs/{found['payload']['job']}/status.json")
    return found


def _attach(wire: Wire) -> Json:
    """A rebind drops the fids (D8): what follows begins at the root anew."""
    found = wire.control("session_attach", {"session_key": "main", "agent_id": "alice", "project_id": "proj-1"})
    assert wire.acheron("t_attach", fid=1)["ok"]
    return found


_LABELS: dict[str, Callable[[Wire], Any]] = {
    "attach": _attach,
    "read back create.json": _text("/agents/self/memory/control/create.json"),
    "wait.json readback": lambda wire: (
        wire.write(WAIT, json.dumps({"paths": [INPUT], "timeout_ms": 500})),
        wire.read(WAIT).decode(),
    )[1],
    "next.json (nothing, 500ms)": lambda wire: _timed(wire, NEXT),
    "next.json": _text(NEXT),
    "chat write": lambda wire: _said(wire, "hello there"),
    "chat write corr": lambda wire: _said(wire, "second", correlation_id="corr-9"),
    "chat write id only": lambda wire: _said(wire, "third", id="id-only"),
    "chat write blank": lambda wire: _said(wire, "  \n"),
    "jobs dir": _jobs,
    "input readback": _text(INPUT),
    "open ro file w": lambda wire: _read_only(wire, "t_open", mode="w"),
    "write w/o open on ro": lambda wire: _read_only(wire, "t_write", data="x"),
    "read without open": lambda wire: _read_only(wire, "t_read", offset=0, count=10),
    "write w/o open": lambda wire: _tried(wire, INPUT, "hello"),
    "bad b64": _raw({"channel": "acheron", "type": "acheron.t_write", "tag": 1, "fid": 1, "data_b64": "!!!"}),
    "neg fid": _raw({"channel": "acheron", "type": "acheron.t_stat", "tag": 1, "fid": -1}),
    "bogus type": _raw({"channel": "acheron", "type": "acheron.t_bogus", "tag": 1}),
    "no tag": _raw({"channel": "acheron", "type": "acheron.t_attach", "fid": 1}),
}

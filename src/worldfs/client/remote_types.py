"""The types that a remote world returns. Times are milliseconds since 1970, sizes are bytes, paths begin with "/"."""

from __future__ import annotations

from typing import NamedTuple

Json = dict[str, object]


class JobResult(NamedTuple):
    """How a job ended; a failure is a value, not an exception. `error`: "<cause>: <message>", empty when `ok`."""

    id: str
    ok: bool
    text: str
    error: str = ""
    correlation_id: str = ""
    updated_at_ms: int = 0


class RemoteToolResult(NamedTuple):
    """A tool's answer: its bare payload, or the error's code and message."""

    ok: bool
    payload: object
    code: str = ""
    message: str = ""
    job: str = ""


class WatchEvent(NamedTuple):
    """One event below a watched path. `seq` grows; `job` for an end, `change` for a change."""

    seq: int
    source_path: str
    event_path: str
    job: Json
    change: Json


class PushFrame(NamedTuple):
    """A pushed frame: its type ("control.node_service_event") and its payload."""

    type: str
    payload: Json


class BoundSession(NamedTuple):
    """The binding of a connection."""

    role: str
    agent: str
    project: str
    session_key: str
    person: str = ""  # whose token it is, "" for an agent's


class RetryPolicy(NamedTuple):
    """How a lost connection is reopened: waits of `first_s`, doubled up to `most_s` seconds, at most `attempts`.

    Only read-only operations (read, list, stat, walk) are retried. A write, an invoke or a control operation
    that had been sent when the connection was lost raises `ConnectionLost` with `sent`.
    """

    attempts: int = 8
    first_s: float = 0.1
    most_s: float = 5.0


NEVER_RETRY = RetryPolicy(0)

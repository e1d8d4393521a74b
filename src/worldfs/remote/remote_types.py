"""What a far world answers with. Times are milliseconds since 1970, sizes are bytes, paths begin with "/"."""

from __future__ import annotations

from typing import Any, NamedTuple

Json = dict[str, Any]


class RemoteEntry(NamedTuple):
    """What hangs at a path (`t_stat`). `id` is stable for a path and below 2**53; a directory's size is 0.

    A file whose reading would wait now reports 1,048,576 bytes: no smaller number is safe (acheron D11). `mtime_ms`:
    when it was last changed, 0 where the server does not say.
    """

    path: str
    id: int
    name: str
    directory: bool
    size: int
    mode: int
    writable: bool
    mtime_ms: int = 0

    @property
    def readable(self) -> bool:
        return bool(self.mode & 0o444)


class RemoteWriteResult(NamedTuple):
    """What a write was answered with; `job` and `result_path` where it started a job."""

    n: int
    job: str = ""
    result_path: str = ""
    correlation_id: str = ""


class JobResult(NamedTuple):
    """How a job ended, a failed one too: failing is a value. `error`: "<cause>: <message>", empty when `ok`."""

    id: str
    ok: bool
    text: str
    error: str = ""
    correlation_id: str = ""
    updated_at_ms: int = 0


class RemoteToolResult(NamedTuple):
    """What a tool said: its bare payload, or the error's code and message."""

    ok: bool
    payload: Any
    code: str = ""
    message: str = ""
    job: str = ""


class WatchEvent(NamedTuple):
    """One thing that happened below a watched path. `seq` grows; `job` for an end, `change` for a change."""

    seq: int
    source_path: str
    event_path: str
    job: Json
    change: Json


class PushFrame(NamedTuple):
    """A frame that nobody asked for: the type of it ("control.node_service_event") and what it carries."""

    type: str
    payload: Json


class BoundSession(NamedTuple):
    """To whom a connection is bound."""

    role: str
    agent: str
    project: str
    session_key: str


class RetryPolicy(NamedTuple):
    """How a lost connection is made again: waits of `first_s`, doubled up to `most_s` seconds, at most `attempts`.

    Only what changes nothing (read, list, stat, walk) is repeated by itself. A write, an invoke or a control operation
    that had left when the connection went raises `Lost` with `sent`.
    """

    attempts: int = 8
    first_s: float = 0.1
    most_s: float = 5.0


NEVER_RETRY = RetryPolicy(0)

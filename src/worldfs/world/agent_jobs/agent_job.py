"""One job of an agent (a call): its row in memory, and its files in the tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from worldfs.access.binding import Binding
from worldfs.base.clock import parse_stamp
from worldfs.base.json_text import compact_json
from worldfs.base.model import Cause, Job, JobState, Json, Order, Outcome
from worldfs.base.stop_signal import StopSignal
from worldfs.runtime.job_codec import changed_at

NAME: Final = re.compile(r"job-([1-9][0-9]{0,17})\Z")
# The states' names on the wire (acheron D20).
STATUS_WORDS: Final[Mapping[JobState, str]] = {
    JobState.PENDING: "queued",
    JobState.RUNNING: "running",
    JobState.SUCCEEDED: "done",
    JobState.FAILED: "failed",
}


class AgentJob(NamedTuple):
    """The fields of a job that are known without reading its file."""

    id: str
    agent: str
    project: str
    kind: str  # chat | invoke
    op: str
    correlation: str = ""
    place: str = ""  # of an invoke: the directory whose control was written, from the agent's own or the tree's root
    file: str = ""  # the control's name
    state: JobState = JobState.PENDING
    error: str = ""
    updated_ms: int = 0  # of the last change of state
    ended: int = 0  # the number of its end among all changes; 0: not ended

    @property
    def over(self) -> bool:
        return self.state.terminal

    @property
    def number(self) -> int:
        return int(self.id[4:])

    @property
    def word(self) -> str:
        return STATUS_WORDS[self.state]

    @property
    def topics(self) -> tuple[str, ...]:
        """The paths of the tree that change with it."""
        job = f"/agents/{self.agent}/jobs/{self.id}"
        if self.kind == "chat":
            return job, f"/agents/{self.agent}/chat"
        if not self.place:
            return (job,)
        return job, self.place if self.place.startswith("/") else f"/agents/{self.agent}/{self.place}"

    def status(self) -> bytes:
        """`status.json`."""
        return compact_json(
            {
                "state": self.word,
                "correlation_id": self.correlation or None,
                "error": self.error or None,
                "updated_at_ms": self.updated_ms,
            }
        )


class ChatTurn(NamedTuple):
    """A message that was answered: what was said, and the answer, or why there is none."""

    text: str
    answer: str
    ok: bool


@dataclass(slots=True)
class AgentJobContext:
    """One run of a job, passed to its work function: parameters, time limit, stop request, log."""

    id: str
    op: str
    params: Json
    binding: Binding  # without its project token after a restart
    seconds: float  # that it may take in all
    left: Callable[[], float]  # seconds until the deadline
    log: Callable[..., None]  # (type, **fields): one line of log.txt
    priority: str = "normal"
    attempt: int = 1
    stop: StopSignal = field(default_factory=StopSignal)
    why: Cause | None = None  # why it should stop
    seal: Callable[[Outcome], None] = lambda outcome: None  # durable: its end, should the process die before it ends

    def ask(self, why: Cause) -> None:
        """Request the end of the run; the work function may take a moment to stop safely."""
        if self.why is None:
            self.why = why
        self.stop.set()


def agent_job_of(job: Job) -> AgentJob:
    """The row of a job by its file."""
    order, status = job.order, job.status
    extra = order.extra
    moment = changed_at(status) or status.completed_at or status.started_at or status.accepted_at
    return AgentJob(
        job.id,
        order.node,
        str(extra.get("project", "")),
        str(extra.get("kind", "")),
        order.op,
        str(extra.get("correlation", "")),
        str(extra.get("place", "")),
        str(extra.get("file", "")),
        status.state,
        error_text(status.outcome) if status.state.terminal else "",
        epoch_ms(parse_stamp(moment)),
    )


def is_agent_order(order: Order) -> bool:
    return NAME.match(order.id) is not None and isinstance(order.extra.get("kind"), str)


def binding_of(order: Order) -> Binding:
    """The binding of the order's submitter; tokens are never written, so an order that is read again has none."""
    project, person = (str(order.extra.get(name, "")) for name in ("project", "person"))
    return Binding(order.asker, order.node, project, person=person, model="model" in order.extra)


def error_text(outcome: Outcome | None) -> str:
    """The error of a failed job: its message, prefixed by the cause unless that is `error` (acheron D20)."""
    if outcome is None or outcome.ok:
        return ""
    message = outcome.message or outcome.code or "failed"
    return message if outcome.cause in (None, Cause.ERROR) else f"{outcome.cause.value}: {message}"


def result_text(outcome: Outcome | None) -> bytes:
    """`result.txt`: the answer, or the error's text; nothing before the end."""
    if outcome is None:
        return b""
    return (outcome.message if outcome.ok else error_text(outcome)).encode("utf-8", "replace")


def message_text(order: Order) -> bytes:
    """`message.txt`: the text of a chat's message; empty for a job of a service."""
    return str(order.params.get("text", "")).encode("utf-8", "replace")


def error_line(id: str, outcome: Outcome, at_ms: int) -> bytes:
    """The last line of a failed job's log. Its cause is named where the error's text names it, too."""
    code = "execution_failed" if outcome.cause is Cause.ERROR and not outcome.code else outcome.code.lower()
    cause = {} if outcome.cause in (None, Cause.ERROR) else {"cause": outcome.cause.value}
    return log_line("error", at_ms, request=id, code=code, **cause, message=error_text(outcome))


def log_line(type: str, at_ms: int, **fields: object) -> bytes:
    return compact_json({"type": type, **fields, "timestamp": at_ms}) + b"\n"


def epoch_ms(moment: datetime | None) -> int:
    return 0 if moment is None else int(moment.timestamp() * 1000)

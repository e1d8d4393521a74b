"""What is to be done and how it ended: orders, jobs, outcomes, findings."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from .base import Json


class JobState(StrEnum):
    """Where a job is in its life."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"

    @property
    def terminal(self) -> bool:
        return self in (JobState.SUCCEEDED, JobState.FAILED)


class Cause(StrEnum):
    """Why a job failed."""

    ERROR = "error"
    TIMEOUT = "timeout"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    LOST = "lost"
    UNMEASURED = "unmeasured"  # its driver says that it is done, and nothing that was observed shows it


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, in the five words that serve every refusal of the product."""

    code: str
    field: str  # file and pointer, e.g. "EMBODIED.md Physical Constraints / Max Reach"
    expected: str
    found: str
    fix: str
    job: str = ""
    warning: bool = False  # a warning is reported and refuses nothing
    condition: tuple[str, ...] = ()  # `measured_facts`: while all of them are so, it refuses again; (): now only

    def __str__(self) -> str:
        return f"{self.code} · {self.field} · expected {self.expected} · found {self.found} · {self.fix}"


REVIEW_S = 300.0  # for the checks of an order without a limit of its own


@dataclass(frozen=True, slots=True)
class Order:
    """What an actor wants done once: node + op + params. The actor writes it once (`job.json`)."""

    id: str
    node: str
    op: str
    params: Json = field(default_factory=dict)
    created_at: str = ""  # ISO 8601; "" means the time of acceptance
    priority: str = "normal"  # high | normal | medium | low
    asker: str = ""  # role that submitted it
    sheet: str = "ACTION.md"  # the sheet that shows it
    timeout_s: float = 300.0  # one attempt
    queue_timeout_s: float = 0.0  # acceptance to start; 0 = may wait for ever
    total_timeout_s: float = 0.0  # first start to end, all attempts and waits between them; 0 = no limit of its own
    step_timeout_s: float = 0.0  # one step of a skill, one answer of a policy; 0 = the attempt's limit
    preflight_timeout_s: float = 0.0  # admission; 0 = the attempt's limit
    attempts: int = 1  # starts allowed in all
    backoff: str = "none"  # none | linear | exponential
    depends_on: tuple[str, ...] = ()
    seq: int = 0  # order of acceptance, breaks ties of created_at
    extra: Json = field(default_factory=dict)  # keys of the dialect that we do not know
    orderer: str = ""  # the actor that asked the asker for it, by its name (access/standing.py); "": the asker itself

    @property
    def review_limit_s(self) -> float:
        """Seconds that the checks of a session may take: they count in each of its limits."""
        limits = self.preflight_timeout_s, self.timeout_s, self.total_timeout_s
        return min((limit for limit in limits if limit), default=REVIEW_S)

    @property
    def request(self) -> Json:
        """What it says beside operation, parameters and limits, as it was written: for a person to approve."""
        return {**self.extra, **({"attempts": self.attempts} if self.attempts > 1 else {})}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended. A failed action is a value; `evidence` is measured, never claimed."""

    ok: bool
    message: str = ""
    cause: Cause | None = None  # None iff ok
    code: str = ""  # e.g. CRITIC_REFUSED, EXECUTION_TIMEOUT, LOST
    traceback: str = ""
    evidence: Json = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @staticmethod
    def success(message: str = "", **evidence: object) -> Outcome:
        return Outcome(True, message, evidence=evidence)

    @staticmethod
    def failure(
        cause: Cause,
        code: str,
        message: str,
        *,
        traceback: str = "",
        evidence: Json | None = None,
        findings: tuple[Finding, ...] = (),
    ) -> Outcome:
        return Outcome(False, message, cause, code, traceback, {} if evidence is None else evidence, findings)


@dataclass(frozen=True, slots=True)
class JobStatus:
    """The kernel's word on a job (`status.json`)."""

    state: JobState = JobState.PENDING
    attempt: int = 0  # starts so far
    accepted_at: str = ""
    started_at: str = ""  # of the last attempt
    completed_at: str = ""
    not_before: str = ""  # a retry waits until then
    outcome: Outcome | None = None
    first_started_at: str = ""  # of the first attempt; "" before a second one has begun
    queued_at: str = ""  # when it was put back to wait; "" before a first attempt was
    reviews: int = 0  # begun by kernels that did not live to see the end of one
    driver: str = ""  # that was given the order; "": it has not begun, or is not known
    simulated: bool = False  # that driver's body moves only while its kernel steps it


@dataclass(frozen=True, slots=True)
class Job:
    """An order and how it stands."""

    order: Order
    status: JobStatus

    @property
    def id(self) -> str:
        return self.order.id

"""The nouns of the house: frozen values, one meaning each (HOUSE §4). SI units: metres, kilograms, radians, seconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Json = dict[str, Any]
Vec = tuple[float, ...]


class State(StrEnum):
    """Where a job is in its life (HOUSE §6)."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"

    @property
    def terminal(self) -> bool:
        return self in (State.SUCCEEDED, State.FAILED)


class Cause(StrEnum):
    """Why a job failed."""

    ERROR = "error"
    TIMEOUT = "timeout"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, in the five words that serve every refusal of the house."""

    code: str
    field: str  # file and pointer, e.g. "EMBODIED.md Physical Constraints / Max Reach"
    expected: str
    found: str
    fix: str
    job: str = ""
    warning: bool = False  # a warning is reported and refuses nothing

    def __str__(self) -> str:
        return f"{self.code} · {self.field} · expected {self.expected} · found {self.found} · {self.fix}"


@dataclass(frozen=True, slots=True)
class Order:
    """What somebody wants done once: node + op + params. Written once, by who asks (`job.json`)."""

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
    attempts: int = 1  # starts allowed in all
    backoff: str = "none"  # none | linear | exponential
    depends_on: tuple[str, ...] = ()
    seq: int = 0  # order of acceptance, breaks ties of created_at
    extra: Json = field(default_factory=dict)  # keys of the dialect that we do not know


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
    def success(message: str = "", **evidence: Any) -> Outcome:
        return Outcome(True, message, evidence=evidence)

    @staticmethod
    def failure(cause: Cause, code: str, message: str, **more: Any) -> Outcome:
        return Outcome(False, message, cause, code, **more)


@dataclass(frozen=True, slots=True)
class JobStatus:
    """The kernel's word on a job (`status.json`)."""

    state: State = State.PENDING
    attempt: int = 0  # starts so far
    accepted_at: str = ""
    started_at: str = ""
    completed_at: str = ""
    not_before: str = ""  # a retry waits until then
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Job:
    order: Order
    status: JobStatus

    @property
    def id(self) -> str:
        return self.order.id


@dataclass(frozen=True, slots=True)
class Thing:
    """A physical thing in a scene. `position` is its centre in the world frame, `size` its full extents in metres.

    `shape`: sphere | box | cylinder | basket | table | region; "" when the file does not say. A cylinder's size is
    (diameter, diameter, height), a sphere's (d, d, d). `mass` 0 = unknown.
    """

    id: str
    name: str = ""
    category: str = ""  # fruit, cup, brick, container, furniture …
    position: Vec = (0.0, 0.0, 0.0)
    orientation: Vec = (1.0, 0.0, 0.0, 0.0)  # quaternion w x y z
    size: Vec = ()
    shape: str = ""
    mass: float = 0.0
    color: str = ""
    status: str = ""  # on_table, in_basket, held, on_floor …
    extra: Json = field(default_factory=dict)

    @property
    def is_container(self) -> bool:
        return self.shape == "basket" or self.category in ("container", "basket", "box_container", "bin", "tray")


@dataclass(frozen=True, slots=True)
class Relation:
    """`subject` is `relation` `object`: ("apple_01", "on", "table_01"). Lower case: on, in, near, held_by."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True, slots=True)
class RobotState:
    robot_id: str
    pose: Vec = (0.0, 0.0, 0.0)  # base in the world frame: x, y, z [, roll, pitch, yaw]
    joint_state: Json = field(default_factory=dict)  # name → rad or m
    gripper: str = ""  # open | closed | holding
    holding: str | None = None  # object id
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scene:
    """What the world looks like: the typed reading of ENVIRONMENT.md, and what a driver observes."""

    robots: tuple[RobotState, ...] = ()
    objects: tuple[Thing, ...] = ()  # what can be handled
    furniture: tuple[Thing, ...] = ()  # what it stands on, in or beside: tables, baskets, floor
    relations: tuple[Relation, ...] = ()
    perception: Json = field(default_factory=dict)  # e.g. camera_rgb, depth: paths relative to ENVIRONMENT.md
    extra: Json = field(default_factory=dict)

    def thing(self, id: str) -> Thing | None:
        return next((t for t in (*self.objects, *self.furniture) if t.id == id), None)

    def robot(self, robot_id: str) -> RobotState | None:
        return next((r for r in self.robots if r.robot_id == robot_id), None)


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: str = ""  # as the profile prints it: "string", "[x,y,z]"
    optional: bool = False
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Op:
    """One verb of a node's profile (a row of Supported Actions)."""

    name: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """A body's abilities: the typed reading of EMBODIED.md."""

    name: str = ""
    model: str = ""
    dof: int | None = None
    end_effector: str = ""
    driver: str = ""
    type: str = ""
    sensors: tuple[tuple[str, bool], ...] = ()  # words as printed, ticked or not
    ops: tuple[Op, ...] = ()
    max_reach: float | None = None  # m
    max_payload: float | None = None  # kg
    max_grip_width: float | None = None  # m
    bounds: tuple[tuple[float, float], ...] = ()  # x, y[, z] ranges in m
    unread: tuple[str, ...] = ()  # limit lines that could not be read: reported, never taken as passed

    def op(self, name: str) -> Op | None:
        return next((o for o in self.ops if o.name == name), None)


@dataclass(frozen=True, slots=True)
class Note:
    """One remembered thing; here a lesson of LESSONS.md."""

    title: str
    action: str = ""  # "pick_up apple_01"
    reason: str = ""
    rejection: str = ""  # the critic's words
    fix: str = ""
    at: str = ""  # "YYYY-MM-DD HH:MM:SS"
    count: int = 1  # how often the same lesson was learned
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """A row of TASK.md: an intention, never executed itself."""

    id: str
    action: str
    target: str = ""
    status: str = "pending"  # pending | running | done | failed | skipped
    depends_on: tuple[str, ...] = ()
    result: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    goal: str
    steps: tuple[Step, ...] = ()
    language: str = "en"  # en | zh: of headings and words written

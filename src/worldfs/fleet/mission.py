"""A mission: what a person, a planner or a model wants of whichever robot can do it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from worldfs.base.model import Json

from .reservations import Reservation

PRIORITY_RANK: Final = {"high": 0, "normal": 1, "low": 2}


class MissionState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        return self in (MissionState.SUCCEEDED, MissionState.FAILED, MissionState.CANCELLED)


@dataclass(frozen=True, slots=True)
class MissionOrder:
    """Written once, by its submitter. `title`: what dashboards call it, the only open mission of that title."""

    id: str
    text: str  # the instruction
    title: str = ""
    requires: tuple[str, ...] = ()  # what a robot must be able to do, as words ("mobile", "manipulation")
    robot: str = ""  # the only robot that may do it; "": any
    priority: str = "normal"  # high | normal | low
    after: tuple[str, ...] = ()  # ids of missions that must have succeeded
    created_at: str = ""
    asker: str = ""  # the actor that submitted it, by its name
    source: str = ""  # the sheet and row that it was read from
    step: str = ""  # the row of TASK.md that it carries out
    confirm: str = ""  # the code of a model's reading that its submitter has confirmed
    serves: str = ""  # the mission out of whose way it sends its robot


class MissionProgress(NamedTuple):
    """How far a mission had come with its robot when its last order was handed over, in words of its executor's."""

    stage: int = 0
    reached: tuple[str, ...] = ()  # goals that held once their turn had come
    reaches: tuple[str, ...] = ()  # goals that this order reaches if it succeeds; of a step aside none


NO_PROGRESS: Final = MissionProgress()


@dataclass(frozen=True, slots=True)
class MissionStatus:
    """The orchestrator's word on a mission: its last line counts."""

    state: MissionState = MissionState.QUEUED
    robot: str = ""  # that carries it out, or did last
    attempt: int = 0  # assignments so far
    priority: str = ""  # "": that of the order
    reason: str = ""  # why it is in this state
    at: str = ""
    bids: tuple[Json, ...] = ()  # of the last assignment: each robot with its cost, or why it does not bid
    job: str = ""  # the order of this attempt that was submitted last
    jobs: int = 0  # orders of all attempts
    barred: tuple[str, ...] = ()  # robots that did not finish it
    kept: bool = False  # only the robot named may go on: it may hold things of the mission
    held: tuple[Reservation, ...] = ()  # what is reserved for `job`
    legs: tuple[str, ...] = ()  # missions that it was split into; it ends by its goals, once they have succeeded
    progress: MissionProgress = NO_PROGRESS
    waits: str = ""  # what one that is queued or runs waits for now; "": nothing, or its turn


@dataclass(frozen=True, slots=True)
class Mission:
    order: MissionOrder
    status: MissionStatus = field(default_factory=MissionStatus)

    @property
    def id(self) -> str:
        return self.order.id

    @property
    def priority(self) -> str:
        return self.status.priority or self.order.priority

    @property
    def word(self) -> str:
        """Its state, for people."""
        running = self.status.state is MissionState.RUNNING
        return "waiting" if running and self.status.waits else self.status.state.value

    @property
    def after(self) -> tuple[str, ...]:
        """The missions that it waits for."""
        return (*self.order.after, *self.status.legs)

    @property
    def rank(self) -> tuple[int, str, str]:
        """Smaller goes first: priority, then age."""
        return PRIORITY_RANK.get(self.priority, 1), self.order.created_at, self.id

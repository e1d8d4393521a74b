"""The port through which a planner sees the world: pages to read, orders to submit, its TASK.md to write."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from worldfs.base.model import JobStatus, Lesson, Order, Profile, Scene, Task
from worldfs.base.stop_signal import StopSignal

from .plan_progress import PlanProgress


class PlannerPort(Protocol):
    """The port of one robot. Every call may raise a WorldError; the planner passes it on after updating TASK.md."""

    robot_id: str

    def scene(self) -> Scene:
        """ENVIRONMENT.md, read again."""
        ...

    def earlier(self) -> Scene | None:
        """The scene before the last instruction of this robot moved things; None if there is none."""
        ...

    def profile(self, robot: str = "") -> Profile | None:
        """EMBODIED.md of a robot, "" for its own; None where it has none or it cannot be read."""
        ...

    def language(self) -> str:
        """The workspace's language, "en" or "zh": TASK.md is written in it."""
        ...

    def lessons(self) -> Sequence[Lesson]:
        """LESSONS.md, newest first."""
        ...

    def avoid(self, order: Order) -> Lesson | None:
        """The lesson that forbids this order in the current scene; None if there is none."""
        ...

    def learn(self, order: Order, scene: Scene) -> None:
        """Write a lesson from the critic's refusal of a planned order, in the predicted scene."""
        ...

    def approve(self, orders: Sequence[Order], steps: Sequence[str], stop: StopSignal) -> str:
        """Ask for approval of a whole plan where the robot needs it, and wait for the answer or for `stop`.

        `steps`: the orders in words. Returns "" to go on, else why the plan may not begin.
        """
        ...

    def earlier_progress(self) -> PlanProgress:
        """How far an execution of the same instruction came that was broken off; a new one begins at the beginning."""
        ...

    def note_progress(self, progress: PlanProgress) -> None:
        """How far it has come: of the order that is submitted next."""
        ...

    def submit(self, order: Order) -> str:
        """Accept durably; returns the job's id."""
        ...

    def wait(self, job_id: str, stop: StopSignal) -> JobStatus:
        """Until the job is terminal, or `stop` is set (then the status may be an earlier one)."""
        ...

    def cancel(self, job_id: str) -> None:
        """Ask for a safe stop; the terminal status still comes through `wait`."""
        ...

    def write_task(self, task: Task) -> None: ...

    def progress(self, text: str) -> None:
        """Report one line of progress."""
        ...

    def now(self) -> datetime: ...

"""The port through which a planner sees the world: pages to read, orders to submit, its TASK.md to write."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ...ground.model import JobStatus, Lesson, Order, Profile, Scene, Task


class PlannerPort(Protocol):
    """One robot's desk. Every call may raise a WorldError; the planner lets it through after marking TASK.md."""

    robot_id: str

    def scene(self) -> Scene:
        """ENVIRONMENT.md, read anew."""
        ...

    def earlier(self) -> Scene | None:
        """The scene as it was before the last instruction of this desk's robot moved things; None for no such."""
        ...

    def profile(self) -> Profile | None:
        """EMBODIED.md; None where it has none or it cannot be read."""
        ...

    def language(self) -> str:
        """The workspace's language, "en" or "zh": TASK.md is written in it."""
        ...

    def lessons(self) -> Sequence[Lesson]:
        """LESSONS.md, newest first."""
        ...

    def avoid(self, order: Order) -> Lesson | None:
        """The lesson that forbids this order while nothing it speaks of has changed; None: go ahead."""
        ...

    def learn(self, order: Order, scene: Scene) -> None:
        """The critic's refusal of a planned order that is not submitted, in the scene as it would be: a lesson."""
        ...

    def submit(self, order: Order) -> str:
        """Accept durably; returns the job's id."""
        ...

    def wait(self, job_id: str, stop: threading.Event) -> JobStatus:
        """Until the job is terminal, or `stop` is set (then the status may be an earlier one)."""
        ...

    def cancel(self, job_id: str) -> None:
        """Ask for a safe stop; the terminal status still comes through `wait`."""
        ...

    def write_task(self, task: Task) -> None: ...

    def progress(self, text: str) -> None:
        """One line for whoever watches."""
        ...

    def now(self) -> datetime: ...

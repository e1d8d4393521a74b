"""The planner's TASK.md: rows of done, running and pending steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from worldfs.base.messages import render
from worldfs.base.model import Scene, Task, TaskStep

from . import task_text
from .planned_actions import PlannedAction


@dataclass(slots=True)
class TaskProgress:
    """Rows keep their ids; what a new plan drops is struck out only if it was pending."""

    goal: str
    language: str
    robot_id: str
    rows: list[TaskStep]
    pending: list[PlannedAction]

    def plan(self, actions: Sequence[PlannedAction], scene: Scene) -> None:
        """The rest of the rows is this plan from now on."""
        self.rows = [r for r in self.rows if r.status != "pending"]
        self.pending = list(actions)
        for action in actions:
            number = len(self.rows) + 1
            before = self.rows[-1].id if self.rows else ""
            self.rows.append(
                TaskStep(
                    str(number),
                    render(task_text.step_text(action, scene), self.language),
                    task_text.target_text(action, scene, self.robot_id, self.language),
                    depends_on=(before,) if before else (),
                )
            )

    def mark(self, status: str, result: str = "") -> None:
        """The row at work, or the first pending one: running, done, failed or skipped."""
        result = render(result, self.language)
        at = next((n for n, r in enumerate(self.rows) if r.status == "running"), None)
        if at is None:
            at = next((n for n, r in enumerate(self.rows) if r.status == "pending"), None)
        if at is None:
            return
        self.rows[at] = replace(self.rows[at], status=status, result=result)
        if status != "running" and self.pending:
            self.pending.pop(0)

    def close(self, result: str) -> None:
        """Skip the pending rows."""
        said = render(result, self.language)
        self.rows = [
            replace(r, status="skipped", result=said) if r.status in ("pending", "running") else r for r in self.rows
        ]
        self.pending = []

    def task(self) -> Task:
        return Task(self.goal, tuple(self.rows), self.language)

"""The planner's report: whether the goals hold in the world, what was tried, and the reasons for failures."""

from __future__ import annotations

from dataclasses import dataclass

from worldfs.base.chat_model import ModelCall
from worldfs.base.model import JobStatus, Order, Scene, TaskStep

from .goals import Goal
from .intent import Intent, QuestionIntent, RefusedIntent


@dataclass(frozen=True, slots=True)
class GoalResult:
    """One goal, and whether it held: at the end, or when it was reached if a later goal had to undo it."""

    goal: Goal
    held: bool
    text: str
    why: str = ""  # for one that did not hold


@dataclass(frozen=True, slots=True)
class SubmittedOrder:
    """One submitted order and its status; None when its end was not observed."""

    job: str
    order: Order
    status: JobStatus | None


@dataclass(frozen=True, slots=True)
class PlanReport:
    """`ok`: for a command, every goal holds in the fresh scene, the last order for each thing succeeded, and nothing
    else was moved; for a question, it was answered; a refusal: never."""

    ok: bool
    reason: str
    intent: Intent
    goals: tuple[GoalResult, ...] = ()
    steps: tuple[TaskStep, ...] = ()
    jobs: tuple[SubmittedOrder, ...] = ()
    replans: int = 0
    world_changed: bool = False  # the scene differed from what the plan expected, at least once
    cancelled: bool = False
    note: str = ""  # what was decided on the way: assignments, order of a stack
    lessons: tuple[str, ...] = ()  # titles of lessons that were applied
    model_calls: tuple[ModelCall, ...] = ()  # of a language model, for this instruction
    before: Scene | None = None  # the scene before the first order
    source: str = "page"  # source of its measurements: truth (a simulation's own state), camera; else the page

    @property
    def verdict(self) -> str:
        """One word: reached | failed | cancelled | answered | not_answered | not_understood."""
        if isinstance(self.intent, QuestionIntent):
            return "answered" if self.ok else "not_answered"
        if isinstance(self.intent, RefusedIntent) and not self.cancelled:
            return "failed" if self.intent.kind in ("missing", "impossible") else "not_understood"
        return "cancelled" if self.cancelled else "reached" if self.ok else "failed"

    @property
    def moved(self) -> bool:
        """Whether any order was submitted."""
        return bool(self.jobs)

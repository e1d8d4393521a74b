"""What is remembered and what is intended: lessons and tasks."""

from __future__ import annotations

from dataclasses import dataclass, field

from .base import Json


@dataclass(frozen=True, slots=True)
class Lesson:
    """One remembered thing; here a lesson of LESSONS.md."""

    title: str
    action: str = ""  # "pick_up apple_01"
    reason: str = ""
    rejection: str = ""  # the critic's words
    fix: str = ""
    condition: str = ""  # `measured_facts.condition_text`: it refuses while this is measured to be so; "": it advises
    at: str = ""  # "YYYY-MM-DD HH:MM:SS"
    count: int = 1  # how often the same lesson was learned
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TaskStep:
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
    steps: tuple[TaskStep, ...] = ()
    language: str = "en"  # en | zh: of headings and words written

"""The nouns of the house: frozen values, one meaning each (HOUSE §4). SI units: metres, kilograms, radians, seconds.

A command that only reads a file must start at once, and making a class costs a millisecond: so each module of nouns is
loaded when the first of its names is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import Json, Vec

if TYPE_CHECKING:
    from .agent import AgentTask, LastSession, Message, Metrics, Remark, Report, SessionRecord
    from .job import Cause, Finding, Job, JobStatus, Order, Outcome, State
    from .note import Note, Step, Task
    from .profile import Op, Parameter, Profile
    from .runtime import CameraSpec, PolicySpec, Skill, Target
    from .scene import Relation, RobotState, Scene, Thing

__all__ = [
    "AgentTask",
    "CameraSpec",
    "Cause",
    "Finding",
    "Job",
    "JobStatus",
    "Json",
    "LastSession",
    "Message",
    "Metrics",
    "Note",
    "Op",
    "Order",
    "Outcome",
    "Parameter",
    "PolicySpec",
    "Profile",
    "Relation",
    "Remark",
    "Report",
    "RobotState",
    "Scene",
    "SessionRecord",
    "Skill",
    "State",
    "Step",
    "Target",
    "Task",
    "Thing",
    "Vec",
]

_HOME = {
    **dict.fromkeys(("AgentTask", "LastSession", "Message", "Metrics", "Remark", "Report", "SessionRecord"), "agent"),
    **dict.fromkeys(("Cause", "Finding", "Job", "JobStatus", "Order", "Outcome", "State"), "job"),
    **dict.fromkeys(("Note", "Step", "Task"), "note"),
    **dict.fromkeys(("Op", "Parameter", "Profile"), "profile"),
    **dict.fromkeys(("CameraSpec", "PolicySpec", "Skill", "Target"), "runtime"),
    **dict.fromkeys(("Relation", "RobotState", "Scene", "Thing"), "scene"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value

"""The data types of the product: frozen values, one meaning each. SI units: metres, kilograms, radians, seconds.

A command that only reads a file must start at once, and making a class costs a millisecond: so each module of nouns is
loaded when the first of its names is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .base import Json, Vec

if TYPE_CHECKING:
    from .agent import AgentReport, AgentTask, LastSession, Message, Metrics, Remark, SessionRecord
    from .approval import MAY_MOVE, ApprovalPolicy, ApprovalRule
    from .job import Cause, Finding, Job, JobState, JobStatus, Order, Outcome
    from .lesson import Lesson, Task, TaskStep
    from .operation import Operation, Parameter
    from .profile import Profile
    from .scene import Relation, RobotState, Scene, Thing, UnreadEntry
    from .session import Execution, Routing, execution_of, routing_of
    from .skill import CameraSpec, PolicySpec, Skill, Target

__all__ = [
    "MAY_MOVE",
    "AgentReport",
    "AgentTask",
    "ApprovalPolicy",
    "ApprovalRule",
    "CameraSpec",
    "Cause",
    "Execution",
    "Finding",
    "Job",
    "JobState",
    "JobStatus",
    "Json",
    "LastSession",
    "Lesson",
    "Message",
    "Metrics",
    "Operation",
    "Order",
    "Outcome",
    "Parameter",
    "PolicySpec",
    "Profile",
    "Relation",
    "Remark",
    "RobotState",
    "Routing",
    "Scene",
    "SessionRecord",
    "Skill",
    "Target",
    "Task",
    "TaskStep",
    "Thing",
    "UnreadEntry",
    "Vec",
    "execution_of",
    "routing_of",
]

_MODULE_OF = {
    **dict.fromkeys(
        ("AgentTask", "LastSession", "Message", "Metrics", "Remark", "AgentReport", "SessionRecord"), "agent"
    ),
    **dict.fromkeys(("ApprovalPolicy", "ApprovalRule", "MAY_MOVE"), "approval"),
    **dict.fromkeys(("Cause", "Finding", "Job", "JobStatus", "Order", "Outcome", "JobState"), "job"),
    **dict.fromkeys(("Execution", "Routing", "execution_of", "routing_of"), "session"),
    **dict.fromkeys(("Lesson", "TaskStep", "Task"), "lesson"),
    **dict.fromkeys(("Operation", "Parameter"), "operation"),
    "Profile": "profile",
    **dict.fromkeys(("CameraSpec", "PolicySpec", "Skill", "Target"), "skill"),
    **dict.fromkeys(("Relation", "RobotState", "Scene", "Thing", "UnreadEntry"), "scene"),
}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value

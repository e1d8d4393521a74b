"""The planner: instruction to goals, goals to actions, one action at a time, and an honest report."""

from .desk import Desk
from .goals import Goal, holds
from .intent import Command, Intent, Question, Refusal
from .language import interpret
from .mind import Mind
from .orders import interpreter, orders
from .plan import Limits, Plan, build, stages
from .planner import Planner
from .report import Judged, Ran, Report

__all__ = [
    "Command",
    "Desk",
    "Goal",
    "Intent",
    "Judged",
    "Limits",
    "Mind",
    "Plan",
    "Planner",
    "Question",
    "Ran",
    "Refusal",
    "Report",
    "build",
    "holds",
    "interpret",
    "interpreter",
    "orders",
    "stages",
]

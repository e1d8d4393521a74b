"""The planner: instruction to goals, goals to actions, one action at a time, and a report judged in the world."""

from .asked_of_all import asked_of_all
from .goal_needs import GoalNeeds, goal_needs
from .goal_stages import stages
from .goals import Goal, holds
from .instruction_parser import interpret
from .intent import CommandIntent, Intent, QuestionIntent, RefusedIntent
from .orders import interpreter, orders
from .plan import Plan, build_plan
from .plan_constraints import PlanConstraints
from .plan_progress import PlanProgress, about_robot, unmet_goals
from .plan_report import GoalResult, PlanReport, SubmittedOrder
from .planner import Planner
from .planner_model import AnsweredQuestion, PlannerModel
from .planner_port import PlannerPort
from .which_thing import NoThing, OneThing, SeveralThings, ThingAnswer, which_thing

__all__ = [
    "AnsweredQuestion",
    "CommandIntent",
    "Goal",
    "GoalNeeds",
    "GoalResult",
    "Intent",
    "NoThing",
    "OneThing",
    "Plan",
    "PlanConstraints",
    "PlanProgress",
    "PlanReport",
    "Planner",
    "PlannerModel",
    "PlannerPort",
    "QuestionIntent",
    "RefusedIntent",
    "SeveralThings",
    "SubmittedOrder",
    "ThingAnswer",
    "about_robot",
    "asked_of_all",
    "build_plan",
    "goal_needs",
    "holds",
    "interpret",
    "interpreter",
    "orders",
    "stages",
    "unmet_goals",
    "which_thing",
]

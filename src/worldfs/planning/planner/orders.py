"""Natural language to orders for one robot at once (`real_execute`): what `ground.driver.Interpreter` asks for."""

from __future__ import annotations

from collections.abc import Sequence

from worldfs.base.driver import Interpreter
from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Order, Profile, Scene

from .goal_stages import stages
from .instruction_parser import interpret
from .intent import CommandIntent, QuestionIntent
from .plan import build_plan
from .plan_constraints import PlanConstraints


def orders(nl_task: str, scene: Scene) -> Sequence[Order]:
    """An Interpreter for the first robot of the scene, whatever its profile; see `interpreter`."""
    return interpreter(scene.robots[0].robot_id if scene.robots else "")(nl_task, scene)


def interpreter(robot_id: str, profile: Profile | None = None) -> Interpreter:
    """Orders in sequence for this robot; empty if the goals hold already. Raises BadInput for anything but a
    command."""

    def read(nl_task: str, scene: Scene) -> Sequence[Order]:
        intent = interpret(nl_task, scene, profile=profile, robot_id=robot_id, suggest=True)
        if not isinstance(intent, CommandIntent):
            asked = isinstance(intent, QuestionIntent)
            found = coded("robot.question") if isinstance(intent, QuestionIntent) else intent.reason
            can = () if asked or isinstance(intent, QuestionIntent) else intent.can
            fix = coded("planner.example", said="; ".join(can[:3])) if can else ""
            raise BadInput(found, path="nl_task", expected=coded("planner.an_order"), fix=fix)
        limits = PlanConstraints(intent.protected)
        plan = build_plan(stages(intent.goals, intent.later), scene, profile=profile, robot_id=robot_id, limits=limits)
        if plan.unmet:
            raise BadInput(plan.unmet[0][1], path="nl_task", expected=coded("planner.feasible_goals"))
        return [
            Order(f"nl_{n:02d}_{action.op}", robot_id, action.op, action.params, asker="planner")
            for n, action in enumerate(plan.actions, 1)
        ]

    return read

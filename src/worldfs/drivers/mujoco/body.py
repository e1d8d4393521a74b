"""The body: a simulated Panda on a table as a `Driver` (HOUSE §7, hands)."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import mujoco
import numpy as np

from ...ground.driver import Interpreter, Run
from ...ground.errors import BadInput
from ...ground.model import Cause, Finding, Order, Outcome, Scene
from . import actions, panda
from .arm import Arm
from .evidence import Receipt
from .ik import HIGH, HOME, LOW, Solver
from .motion import CLOSE, Mover, Stopped
from .params import OBJECT_KEYS, word
from .rig import Rig
from .scene import Layout, layout, random_scene
from .types import Array
from .view import arm_state, observe

SETTLE = 0.3  # s that the world comes to rest in when it is built
READY = (  # poses tried in turn until one is free of collision: home, folded, upright, turned away
    panda.HOME,
    (0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785),
    (0.0, -1.2, 0.0, -2.6, 0.0, 1.8, 0.785),
    (0.0, -0.5, 0.0, -2.9, 0.0, 2.6, 0.785),
    (1.57, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785),
    (-1.57, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785),
    (0.0, 0.0, 0.0, -0.5, 0.0, 0.9, 0.785),
    (2.6, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785),
)
Reviewed = Callable[[Arm, Order], object]


class Tabletop:
    """Driver of one Panda. `seed` and `objects` shape the random scene that an empty `open` builds.

    `artifacts`: directory beside ENVIRONMENT.md that pictures go to (in its `camera/`); None: no pictures are kept.
    `interpreter`: language to orders, for real_execute. Called from one thread at a time, any thread.
    """

    ops = frozenset({"move_to", "pick_up", "place", "target_navigation", "strategy", "real_execute"})
    repeatable: frozenset[str] = frozenset()  # every op moves the arm, or may

    def __init__(
        self,
        robot_id: str,
        *,
        seed: int | None = None,
        objects: int | None = None,
        cameras: bool = True,
        artifacts: Path | None = None,
        interpreter: Interpreter | None = None,
    ) -> None:
        self.robot_id = robot_id
        self.seed, self.count = 0 if seed is None else seed, 5 if objects is None else objects
        self.interpreter = interpreter
        self._arm: Arm | None = None

    @property
    def arm(self) -> Arm:
        if self._arm is None:
            raise BadInput("the body is not open", op="open", fix="open the driver with a scene first")
        return self._arm

    # --- Driver ---

    def open(self, scene: Scene) -> None:
        self.close()
        if not scene.objects and not scene.furniture:
            made = random_scene(self.seed, self.count, self.robot_id)
            scene = Scene(scene.robots or made.robots, made.objects, made.furniture, made.relations)
        plan = layout(scene, self.robot_id)
        rig = Rig(plan)
        arm = Arm(rig, Solver(plan.base), Mover(rig))
        _stand_up(arm, plan)
        self._arm = arm

    def observe(self) -> Scene:
        return observe(self.arm, self.robot_id, {})

    def review(self, order: Order) -> Sequence[Finding]:
        plans: dict[str, Reviewed] = {
            "move_to": actions.plan_move,
            "pick_up": actions.plan_pick,
            "place": actions.plan_place,
        }
        planner = plans.get(order.op)
        if planner is None:
            return ()
        found = planner(self.arm, order)
        return (found,) if isinstance(found, Finding) else ()

    def execute(self, order: Order, run: Run) -> Outcome:
        arm = self.arm
        arm.mover.begin(lambda: run.stop)
        receipt = Receipt(arm, self._focus(order))
        try:
            return self._carry_out(order, receipt, run)
        except Stopped as stopped:
            cause = Cause.CANCELLED if stopped.why == "cancelled" else Cause.TIMEOUT
            code = "CANCELLED" if cause is Cause.CANCELLED else "EXECUTION_TIMEOUT"
            return Outcome.failure(
                cause, code, f"{order.op} stopped ({stopped.why}); the arm holds still", evidence=receipt.close()
            )
        except FloatingPointError as error:
            return Outcome.failure(Cause.ERROR, "SIMULATION_DIVERGED", str(error), traceback=traceback.format_exc())

    def close(self) -> None:
        self._arm = None

    # --- inside ---

    def _carry_out(self, order: Order, receipt: Receipt, run: Run) -> Outcome:
        table = {"move_to": actions.move_to, "pick_up": actions.pick_up, "place": actions.put}
        if order.op in table:
            return table[order.op](self.arm, order, receipt)
        return Outcome.failure(
            Cause.ERROR, "UNKNOWN_OP", f"{order.op} is none of {', '.join(sorted(self.ops))}", evidence=receipt.close()
        )

    def _focus(self, order: Order) -> str | None:
        """The thing that an order is about."""
        rig = self.arm.rig
        if order.op == "place":
            return rig.held()
        named = word(order.params, OBJECT_KEYS)
        return named[1] if named is not None and named[1] in rig.body else rig.held()


def _stand_up(arm: Arm, plan: Layout) -> None:
    """Puts the arm where an earlier observation left it, else into a pose free of collision; the world comes to rest."""
    rig = arm.rig
    data = rig.data
    data.qpos[panda.ARM : panda.ARM + 2] = panda.STROKE
    mujoco.mj_forward(rig.model, data)
    arm.ready = _free_pose(arm)
    q, finger = arm.ready, panda.STROKE
    before = arm_state(plan.robot)
    if before is not None:
        opening = before[1]
        # what is held touches the pads; anything else that touches means the file was edited since
        hits = arm.rehearsal(opening=opening).hits(before[0])
        if not [pair for pair in hits if plan.robot is None or plan.robot.holding not in pair]:
            q, finger = before
    data.qpos[: panda.ARM], data.ctrl[: panda.ARM] = q, q
    data.qpos[panda.ARM : panda.ARM + 2] = finger
    holding = plan.robot.holding if plan.robot else None
    data.ctrl[panda.ARM] = CLOSE if holding in rig.body and finger < panda.STROKE else finger
    mujoco.mj_forward(rig.model, data)
    arm.mover.wait(SETTLE)


def _free_pose(arm: Arm) -> Array:
    rehearsal = arm.rehearsal(opening=panda.STROKE)
    for pose in READY:
        if rehearsal.free(np.array(pose)):
            return np.array(pose)
    rng = np.random.default_rng(3)
    for _ in range(300):
        q = rng.uniform(LOW, HIGH)
        if rehearsal.free(q):
            return np.asarray(q)
    return HOME.copy()

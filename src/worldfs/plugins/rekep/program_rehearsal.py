"""The rehearsal: a program carried out in a simulation that is built from the scene, before it may move anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from worldfs.base.driver import PluginContext, Run
from worldfs.base.errors import BadInput
from worldfs.base.extras import needs
from worldfs.base.json_values import as_list, as_object
from worldfs.base.messages import coded
from worldfs.base.model import Outcome, RobotState, Scene, Target
from worldfs.base.model.skill import SIM
from worldfs.robots.displacements import displacement_text
from worldfs.robots.targets.target_adapter import TargetAdapter

from .end_effector import ExecutionHalted
from .program_library import LibraryProgram

REHEARSAL: Final = "rehearsal"  # the simulated target
FAILED: Final = "REHEARSAL_FAILED"

Perform = Callable[[TargetAdapter, LibraryProgram, Run], Outcome]


def rehearse(planned: LibraryProgram, scene: Scene, robot_id: str, run: Run, perform: Perform) -> Outcome:
    """The outcome in the simulation. Raises `BadInput` (REHEARSAL_FAILED) where it is no success or moves other things,
    `MissingRequirement` without the simulation, `ExecutionHalted` when the run is to stop.
    """
    with needs("sim", op="rehearse a model's program"):
        from worldfs.robots.targets.tabletop_target import TabletopTarget
    target = TabletopTarget(
        Target(REHEARSAL, SIM, adapter="SimTargetAdapter", backend="mujoco"),
        PluginContext(run.clock, scene=_rehearsed(scene, robot_id)),
    )
    target.open()
    try:
        outcome = perform(target, planned, Run(run.clock, run.deadline, run.attempt, None, run.cancel))
    finally:
        target.close()
    if run.stop:
        raise ExecutionHalted(run.stop)
    others = displacement_text([as_object(line) for line in as_list(outcome.evidence.get("also_moved"))])
    if why := others if outcome.ok else f"{outcome.code} {outcome.message}".strip():
        raise BadInput(coded("plugin.rekep_in_simulation", why=why[:300]), path=planned.program.name, code=FAILED,
                       expected=coded("plugin.rekep_simulated"), fix=coded("plugin.rekep_not_moved"))  # fmt: skip
    return outcome


def _rehearsed(scene: Scene, robot_id: str) -> Scene:
    """The things as they stand, and one arm where the robot's base is, holding what it holds."""
    robot = scene.robot(robot_id) or next(iter(scene.robots), RobotState(REHEARSAL))
    return Scene((replace(robot, robot_id=REHEARSAL),), scene.objects, scene.furniture)

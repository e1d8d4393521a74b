"""The evidence of an action: measured values in plain numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Json, Order, Outcome
from worldfs.base.model.profile import TRUTH
from worldfs.base.workspace_bounds import LIMIT
from worldfs.robots import displacements

from . import geometry, params, support
from .arm import Arm
from .array_types import Array
from .model_builder import TIMESTEP
from .motion_loop import MotionLoop, MotionStopped
from .rig import BodyRig

REFUSED = "CRITIC_REFUSED"  # before anything moves
MOST_NAMED = 4  # things, in a message
NO_PLAN = "PLAN_FAILED"  # the same, found out on the way


def rounded(values: Array | tuple[float, ...] | list[float], digits: int = 4) -> list[float]:
    """Plain floats, no minus zero, so that equal states give equal text."""
    return [round(float(v), digits) + 0.0 for v in values]


def plan_failure(finding: Finding, evidence: Json) -> Outcome:
    """A plan that could not be made once the time had come: an error of the action, with the body's reason."""
    found = finding.found
    if finding.code == LIMIT:
        found = coded("robot.steps_wrong", found=found, expected=finding.expected)
    why = coded("robot.plan_failed", found=found, fix=finding.fix)
    return Outcome.failure(Cause.ERROR, finding.code, why, evidence=evidence, findings=(finding,))


def moved_on(outcome: Outcome) -> Outcome:
    """The outcome of an order that has moved the arm: no refusal, for a refused order moves nothing."""
    if outcome.code != REFUSED:
        return outcome
    findings = tuple(replace(found, code=NO_PLAN) if found.code == REFUSED else found for found in outcome.findings)
    return replace(outcome, code=NO_PLAN, findings=findings)


def seen_before(arm: Arm, order: Order, keys: tuple[str, ...]) -> Finding | None:
    """A look at the thing that an order names, of an arm that goes by its cameras; why it cannot be handled by that."""
    id = params.thing(arm.rig, order, keys, objects=True)
    return arm.look_at(id, order.id) if arm.look_at is not None and isinstance(id, str) else None


def stop_failure(op: str, stopped: MotionStopped, mover: MotionLoop, evidence: Json) -> Outcome:
    """The run was to stop: it stands, as far as its speed says."""
    cause = Cause.CANCELLED if stopped.why == "cancelled" else Cause.TIMEOUT
    code = "CANCELLED" if cause is Cause.CANCELLED else "EXECUTION_TIMEOUT"
    why = coded("robot.cancelled") if cause is Cause.CANCELLED else coded("robot.timeout")
    still = coded("robot.motion_stopped", op=op, why=why)
    return Outcome.failure(cause, code, still, evidence={**evidence, "held": mover.still, "speed": mover.speed})


def object_poses(rig: BodyRig) -> dict[str, displacements.ObjectPose]:
    """Every object where it is now; a ball has no visible rotation."""
    return {
        id: (rig.position(id).tolist(), () if rig.things[id].shape == "sphere" else rig.quat(id).tolist())
        for id in rig.objects
    }


class ActionEvidence:
    """Opened before anything moves, closed when all is at rest."""

    def __init__(self, arm: Arm, thing: str | None = None) -> None:
        self.arm, self.thing = arm, thing
        self._steps, self._time = arm.mover.steps, float(arm.simulation.data.time)
        self._before = self._snapshot()
        self._from = None if thing is None else arm.rig.position(thing).copy()
        self._poses = self._all()
        self._boxes = {id: set(support.boxes_round(arm.rig, id)) for id in arm.rig.objects}
        self.meant = {thing} if thing is not None else set()  # ids that the action is about
        self.attempts = 1
        self.distance: float | None = None
        self.more: Json = {}

    def _snapshot(self) -> Json:
        rig = self.arm.rig
        position, rotation = rig.view.tcp_pose()
        taken: Json = {"tcp": {"position": rounded(position), "rpy": rounded(geometry.to_rpy(rotation), 3)}}
        if self.thing is not None:
            taken["object"] = {
                "id": self.thing,
                "position": rounded(rig.position(self.thing)),
                "orientation": rounded(rig.quat(self.thing), 3),
                "on": support.bearer(rig, self.thing),
            }
        return taken

    def _all(self) -> dict[str, displacements.ObjectPose]:
        return object_poses(self.arm.rig)

    def close(self) -> Json:
        """The evidence: positions in m, turns in rad, `distance_to_goal` in m, times in s."""
        rig = self.arm.rig
        focus = self.thing or rig.held()
        steps = self.arm.mover.steps - self._steps
        pairs = [[c.one, c.other] for c in rig.contacts() if {c.one, c.other} & {"robot", focus}]
        out: Json = {
            "evidence_class": "sim",
            "engine": "mujoco",
            "source": TRUTH,  # the simulation's own state, and no picture
            "before": self._before,
            "after": self._snapshot(),
            "contacts": pairs,
            "gripper_opening": round(rig.view.opening(), 4),
            "steps": steps,
            "sim_seconds": round(steps * TIMESTEP, 3),
            "attempts": self.attempts,
        }
        if self.distance is not None:
            out["distance_to_goal"] = round(float(self.distance), 4)
        if self.thing is not None and self._from is not None:
            way = self.arm.rig.position(self.thing) - self._from
            out["object_moved"] = round(float(np.linalg.norm(way)), 4)
            out["carried_by"] = {owner: round(part, 3) for owner, part in support.shares(rig, self.thing).items()}
        if others := self.also_moved():
            out["also_moved"] = others
        return {**out, **self.more}

    def also_moved(self) -> list[displacements.Displacement]:
        """What was moved until now that the action is not about."""
        meant = self.meant | self.arm.reserved.handled_by_others(self.arm.robot_id, self._time)
        return displacements.displacements(self._poses, self._all(), meant)

    def with_places(self, outcome: Outcome) -> Outcome:
        """The failure with where each thing is now that was moved, or is in the hand."""
        rig, held = self.arm.rig, self.arm.rig.held()
        mine = {id: pose for id, pose in self._poses.items() if id in self.meant}
        moved = [*displacements.displacements(mine, self._all()), *self.also_moved()]
        ids = dict.fromkeys([*([held] if held is not None else []), *(line["id"] for line in moved)])
        words = {id: "robot.held_now" if id == held else "robot.lies_now" for id in ids}
        places = [coded(words[id], id=id, at=rig.position(id)) for id in list(ids)[:MOST_NAMED]]
        if not places:
            return outcome
        return replace(outcome, message=coded("robot.now_at", said=outcome.message, places=places))

    def bystanders(self) -> list[displacements.Displacement]:
        """Those of them that have not only shifted within the box in which they lie."""
        rig, boxes = self.arm.rig, self._boxes
        return [one for one in self.also_moved() if boxes[one["id"]].isdisjoint(support.boxes_round(rig, one["id"]))]

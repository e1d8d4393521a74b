"""The body's world as a `Scene`, by the simulation's own state: rounded, so that what did not change reads the same."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from worldfs.base.model import Json, Relation, RobotState, Scene, Thing
from worldfs.robots.displacements import STAND

from . import fixture_model, panda, support
from .action_evidence import rounded
from .arm import Arm
from .array_types import Array
from .carrier import Carrier
from .quadruped.quadruped import Quadruped
from .quadruped.quadruped_model import JOINTS
from .quadruped.walker import UPRIGHT
from .rig import BodyRig
from .scene_layout import covers
from .vessel_model import GRAINS

OPEN = 0.04  # m between the pads: from here on the gripper is called open


def observe(arm: Arm, robot_id: str, perception: Json) -> Scene:
    """Positions to 0.1 mm, turns to 0.001; relations from contact and pose."""
    return _scene(arm.rig, robot_state(arm, robot_id), perception)


def robot_state(arm: Arm, robot_id: str) -> RobotState:
    """The arm's own entry."""
    rig = arm.rig
    held = rig.held()
    opening = rig.view.opening()
    base = rounded(rig.placement.base)
    given = rig.placement.robot
    turned = any(base[3:]) or (given is not None and len(given.pose) > 3)
    return RobotState(
        robot_id,
        tuple(base if turned else base[:3]),
        {
            **{f"joint_{i + 1}": v for i, v in enumerate(rounded(rig.view.joints()))},
            "finger": round(opening / 2, 4),
        },
        "holding" if held else "open" if opening > OPEN else "closed",
        held,
    )


def observe_carrier(carrier: Carrier) -> Scene:
    """The same world with the carrier's own entry."""
    at = carrier.view.position()
    return _scene(carrier.rig, RobotState(carrier.robot_id, tuple(rounded(at))), {})


def observe_quadruped(quadruped: Quadruped, nav_state: Json) -> Scene:
    """The same with a quadruped's."""
    floor, walker = quadruped.floor, quadruped.walker
    pose = floor.view.pose()
    robot = RobotState(
        quadruped.robot_id,
        tuple(rounded([pose.x, pose.y, pose.z, pose.roll, pose.pitch, pose.yaw], 3)),
        dict(zip(JOINTS, rounded(floor.view.joints(), 3), strict=True)),
        extra={
            "posture": "standing" if pose.up >= UPRIGHT else "fallen",
            "battery_percent": round(100 * walker.charge, 1),
            "nav_state": dict(nav_state),
        },
    )
    return _scene(quadruped.rig, robot, {})


def _scene(rig: BodyRig, robot: RobotState, perception: Json) -> Scene:
    relations = _relations(rig, robot.robot_id, robot.holding)
    status = {r.subject: _status(r, rig.things) for r in reversed(relations)}  # the first reported counts
    several = [r.subject for r in relations if r.relation == "leans_on"]
    status |= {id: "on_several" if several.count(id) > 1 else "on_edge" for id in several}
    objects = tuple(
        replace(
            rig.things[id],
            position=tuple(rounded(rig.position(id))),
            orientation=tuple(rounded(_positive(rig.quat(id)))),
            size=tuple(rounded(rig.things[id].size)),
            status=status.get(id) or ("on_floor" if "floor" in rig.touching(id) else "unsupported"),
            extra={GRAINS: rig.grains_in(id)}
            if id in rig.vessels
            else {},  # further fields of the file stay the file's
        )
        for id in rig.objects
    )
    furniture = tuple(_furniture(rig, piece) for piece in rig.plan.furniture)
    furniture += tuple(replace(tray, position=tuple(rounded(tray.position))) for tray in rig.trays())
    return Scene((robot,), objects, furniture, tuple(relations), dict(perception))


def _furniture(rig: BodyRig, piece: Thing) -> Thing:
    """As the file has it; of what opens, how far it is open (m or rad); of a basket beside vessels, what was poured
    into it."""
    if piece.id not in rig.fixtures:
        poured_into = rig.vessels and piece.shape == "basket"
        return replace(piece, extra={GRAINS: rig.grains_in(piece.id)} if poured_into else {})
    opening = rig.opening(piece.id)
    return replace(
        piece, status=fixture_model.state(piece, opening), extra={"opening": rounded([max(opening, 0.0)], 3)[0]}
    )


def _positive(quat: Array) -> Array:
    return -quat if quat[0] < 0 else quat


def _relations(rig: BodyRig, robot_id: str, held: str | None) -> list[Relation]:
    found: list[Relation] = []
    hollow = sorted((p for p in rig.things if support.is_hollow(rig, p)), key=lambda p: math.prod(rig.things[p].size))
    for id in rig.objects:
        if id == held:
            found.append(Relation(id, "held_by", robot_id))
            continue
        if other := rig.holder(id):
            found.append(Relation(id, "held_by", other))
            continue
        position = rig.position(id)
        half = float(rig.half(id)[2])
        around = next((place for place in hollow if support.contains(rig, id, place)), None)
        if around is not None:  # a plan takes it off the cup that it is in
            found.append(Relation(id, "on" if around in rig.vessels else "in", around))
            continue
        # what carries it alone, standing or lying squarely, it is on; everything else it only leans on
        under = {support_id: part for support_id, part in support.shares(rig, id).items() if support_id in rig.things}
        alone = next((w for w, part in under.items() if part >= support.CARRIES and support.flat(rig, id)), None)
        if alone is not None:
            found.append(Relation(id, "on", alone))
        else:
            found += [
                Relation(id, "leans_on", support_id) for support_id, part in under.items() if part > support.TOUCH
            ]
        for region in (f for f in rig.furniture if f.shape == "region"):
            low = float(position[2]) - half
            if covers(region, float(position[0]), float(position[1])) and abs(low - region.position[2]) < 0.03:
                found.append(Relation(id, "on", region.id))
    for piece in rig.furniture:
        if piece.shape != "basket":
            continue
        foot = piece.position[2] - piece.size[2] / 2
        for table in rig.furniture:
            if table.shape == "table" and covers(table, *piece.position[:2]) and abs(table.position[2] - foot) < 0.03:
                found.append(Relation(piece.id, "on", table.id))
    return found


def _status(relation: Relation, things: dict[str, Thing]) -> str:
    if relation.relation == "held_by":
        return "held"
    other = things[relation.object]
    if relation.relation == "in":
        return "in_basket" if other.shape == "basket" else "in"
    if other.shape == "table":
        return "on_stand" if other.category == STAND else "on_table"
    return "on_object" if relation.object in things and other.shape in ("sphere", "cylinder", "box") else "on"


def arm_state(scene_robot: RobotState | None) -> tuple[Array, float] | None:
    """Joint angles (7) and half opening (m) that an earlier observation wrote; None when they are not all there."""
    if scene_robot is None:
        return None
    try:
        q = np.array([float(str(scene_robot.joint_state[f"joint_{i}"])) for i in range(1, 8)])
        finger = float(str(scene_robot.joint_state.get("finger", panda.STROKE)))
    except (KeyError, TypeError, ValueError):
        return None
    low, high = np.array(panda.LIMITS).T
    if not (np.all(np.isfinite(q)) and np.all(q > low) and np.all(q < high) and 0 <= finger <= panda.STROKE + 1e-3):
        return None
    return q, min(finger, panda.STROKE)

"""The quadruped's model: our own MJCF in primitive shapes, by the published figures of a Unitree Go2.

Geometry, masses, inertias, joint ranges and torques are those of Unitree's published URDF (go2_description); the shapes
are ours. The servos stand for the robot's own joint controllers: torque = stiffness × (goal − angle) − damping × speed,
within what the motor gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import mujoco

from worldfs.robots.mujoco.array_types import Native

from .leg import CALF, HIP, THIGH

LEGS: Final = ("FL", "FR", "RL", "RR")
SIDES: Final = (1.0, -1.0, 1.0, -1.0)  # of each leg: 1 left, −1 right
HIPS: Final = ((0.1934, 0.0465), (0.1934, -0.0465), (-0.1934, 0.0465), (-0.1934, -0.0465))  # m, x and y in the trunk
PARTS: Final = ("hip", "thigh", "calf")  # of each leg, and the names of its joints
JOINTS: Final = tuple(f"{leg}_{part}" for leg in LEGS for part in PARTS)
RANGES: Final = {  # rad
    "hip": ((-1.0472, 1.0472),) * 4,
    "thigh": ((-1.5708, 3.4907), (-1.5708, 3.4907), (-0.5236, 4.5379), (-0.5236, 4.5379)),
    "calf": ((-2.7227, -0.83776),) * 4,
}
TORQUE: Final = {"hip": 23.7, "thigh": 23.7, "calf": 45.43}  # N m
STIFFNESS, DAMPING = 120.0, 3.0  # N m/rad, N m s/rad
FOOT: Final = 0.022  # m, radius
MASS: Final = 15.017  # kg, all of it
TRUNK, ROOT, CAMERA = "trunk", "root", "head"
LENGTH, WIDTH = 0.70, 0.31  # m, of the body as it stands
WEIGHTS: Final = {"hip": 0.678, "thigh": 1.152, "calf": 0.154, "foot": 0.04}  # kg
_SHELL, _DARK, _GREY = (0.88, 0.89, 0.91, 1), (0.16, 0.17, 0.19, 1), (0.42, 0.44, 0.47, 1)


def add(spec: Native, pose: Sequence[float], quat: Sequence[float], prefix: str = "") -> None:
    """Puts a quadruped into a world that is not compiled yet: trunk at `pose` (x y z, m), turned by `quat` (w x y z).

    Its names begin with `prefix`, so that several bodies have a place in one world.
    """
    spec.compiler.degree = False
    if prefix:  # MuJoCo attaches nothing without one
        alone = mujoco.MjSpec()
        add(alone, pose, quat)
        alone.option = spec.option  # else it warns that the body's own are lost
        spec.attach(alone, prefix=prefix, frame=spec.worldbody.add_frame())
        return
    trunk = spec.worldbody.add_body(name=TRUNK, pos=list(pose[:3]), quat=list(quat))
    trunk.add_freejoint(name=ROOT)
    trunk.mass, trunk.ipos, trunk.explicitinertial = 6.921, [0.021112, 0, -0.005366], True
    trunk.fullinertia = [0.02448, 0.098077, 0.107, 0.00012166, 0.0014849, -3.12e-05]
    box, visual = mujoco.mjtGeom.mjGEOM_BOX, {"contype": 0, "conaffinity": 0, "mass": 0}
    trunk.add_geom(type=box, size=[0.1881, 0.0467, 0.057], rgba=list(_SHELL), mass=0)
    trunk.add_geom(type=box, pos=[0, 0, 0.045], size=[0.14, 0.05, 0.02], rgba=list(_DARK), **visual)
    head = mujoco.mjtGeom.mjGEOM_CYLINDER
    trunk.add_geom(type=head, pos=[0.285, 0, 0.01], size=[0.05, 0.045, 0], rgba=list(_DARK), mass=0)
    trunk.add_geom(type=box, pos=[0.235, 0, 0.01], size=[0.05, 0.035, 0.035], rgba=list(_SHELL), mass=0)
    # looks forward, its picture's top upwards
    trunk.add_camera(name=CAMERA, pos=[0.34, 0, 0.04], fovy=70, quat=[0.5, 0.5, -0.5, -0.5])
    for number, leg in enumerate(LEGS):
        _leg(spec, trunk, number, leg)


def _leg(spec: Native, trunk: Native, number: int, leg: str) -> None:
    side, capsule, cylinder = SIDES[number], mujoco.mjtGeom.mjGEOM_CAPSULE, mujoco.mjtGeom.mjGEOM_CYLINDER
    hip = _part(spec, trunk, (number, "hip"), (*HIPS[number], 0.0), (1, 0, 0))
    hip.ipos, hip.inertia = [0, 0, 0], [0.00048, 0.000884, 0.000596]
    lying = [0.70710678, 0.70710678, 0, 0]
    hip.add_geom(
        type=cylinder, pos=[0, side * 0.05, 0], quat=lying, size=[0.046, 0.03, 0], rgba=list(_GREY), mass=0,
        contype=0, conaffinity=0,
    )  # fmt: skip
    thigh = _part(spec, hip, (number, "thigh"), (0.0, side * HIP, 0.0), (0, 1, 0))
    thigh.ipos, thigh.inertia = [-0.00374, -side * 0.0223, -0.0327], [0.00584, 0.0058, 0.00103]
    thigh.add_geom(type=capsule, fromto=[0, 0, 0, 0, 0, -THIGH], size=[0.022, 0, 0], rgba=list(_SHELL), mass=0)
    calf = _part(spec, thigh, (number, "calf"), (0.0, 0.0, -THIGH), (0, 1, 0))
    calf.ipos, calf.inertia = [0.0048, 0, -0.132], [0.00108, 0.0011, 0.0000329]
    calf.add_geom(type=capsule, fromto=[0, 0, 0, 0, 0, -CALF + 0.01], size=[0.013, 0, 0], rgba=list(_DARK), mass=0)
    calf.add_geom(
        name=f"{leg}_foot", type=mujoco.mjtGeom.mjGEOM_SPHERE, pos=[0, 0, -CALF], size=[FOOT, 0, 0], rgba=list(_DARK),
        mass=0, friction=[0.8, 0.02, 0.01], condim=6, priority=1,
    )  # fmt: skip
    spec.add_exclude(bodyname1=TRUNK, bodyname2=f"{leg}_thigh")  # they overlap by design


def _part(spec: Native, parent: Native, which: tuple[int, str], at: Sequence[float], axis: Sequence[float]) -> Native:
    """A link of a leg (its number, the part) with its joint and its servo."""
    number, part = which
    name, (low, high) = f"{LEGS[number]}_{part}", RANGES[part][number]
    body = parent.add_body(name=name, pos=list(at))
    body.mass = WEIGHTS[part] + (WEIGHTS["foot"] if part == "calf" else 0.0)
    body.explicitinertial = True
    # armature and damping stand for the gears; ours, not published
    body.add_joint(name=name, axis=list(axis), range=[low, high], limited=True, armature=0.01, damping=0.1)
    servo = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    servo.gaintype, servo.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
    servo.gainprm[0] = STIFFNESS
    servo.biasprm[1], servo.biasprm[2] = -STIFFNESS, -DAMPING
    servo.forcelimited, servo.forcerange = True, [-TORQUE[part], TORQUE[part]]
    return body

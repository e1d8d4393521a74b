"""The carrier: our own model of a wheeled platform with a tray, in primitive geometry.

The base is planar: two driven slides hold it on the floor and along the world's axes, as mecanum wheels would; the
wheels are for the eye. What lies on the tray is held there by nothing but contact and the tray's rim. All figures are
ours; no mesh, no third-party file.
"""

from __future__ import annotations

import mujoco

from worldfs.base.model import Thing
from worldfs.base.tray_names import tray_id

from .array_types import Native

LENGTH, WIDTH = 0.50, 0.40  # m, along x and y
CLEAR = 0.06  # m below the chassis
CHASSIS = 0.24  # m, height of the chassis
TRAY = (0.44, 0.34, 0.05)  # m, outer extents
TRAY_WALL = 0.008  # m
TRAY_FOOT = 0.70  # m from the floor to the tray's underside
MASS = 45.0  # kg
SPEED = 0.6  # m/s
ACCELERATION = 0.5  # m/s²: a ball on the tray rolls to the rim, and a tall can stays upright
MAX_PAYLOAD = 10.0  # kg
STIFFNESS = 18000.0  # N/m
LAG = 0.1  # s: damping over stiffness of the drives
FORCE = 900.0  # N
JOINTS, DRIVES, BASE, TRAY_BODY = ("x", "y"), ("drive_x", "drive_y"), "base", "tray"  # names, after the prefix

SHELL = (0.22, 0.30, 0.42, 1.0)
METAL = (0.55, 0.57, 0.60, 1.0)
RUBBER = (0.08, 0.08, 0.09, 1.0)
PLATE = (0.80, 0.82, 0.85, 1.0)


def tray(robot_id: str, base: tuple[float, ...]) -> Thing:
    """The tray of a carrier whose base is there (x y z of the floor, m): a thing like a basket."""
    at = (base[0], base[1], base[2] + TRAY_FOOT + TRAY[2] / 2)
    return Thing(tray_id(robot_id), f"tray of {robot_id}", "tray", at, size=TRAY, shape="basket", color="#c8ccd4")


def add(spec: Native, base: tuple[float, ...], prefix: str) -> None:
    """Puts a carrier into `spec`; its names begin with `prefix`."""
    box, disc = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CYLINDER
    body = spec.worldbody.add_body(name=prefix + BASE, pos=list(base[:3]), gravcomp=1)
    for name, axis, drive in zip(JOINTS, ([1, 0, 0], [0, 1, 0]), DRIVES, strict=True):
        body.add_joint(name=prefix + name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis, damping=5.0)
        servo = spec.add_actuator(name=prefix + drive, target=prefix + name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        servo.gaintype, servo.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
        servo.gainprm[0], servo.biasprm[1], servo.biasprm[2] = STIFFNESS, -STIFFNESS, -LAG * STIFFNESS
        servo.forcelimited, servo.forcerange = True, [-FORCE, FORCE]
    top = CLEAR + CHASSIS
    body.add_geom(
        type=box, pos=[0, 0, CLEAR + CHASSIS / 2], size=[LENGTH / 2, WIDTH / 2, CHASSIS / 2], rgba=SHELL, mass=MASS
    )
    half = (TRAY_FOOT - top) / 2
    body.add_geom(type=box, pos=[0, 0, top + half], size=[0.06, 0.06, half], rgba=METAL, mass=2.0)
    # looks ahead and down over the tray's front rim
    ahead = [0.612, 0.354, -0.354, -0.612]
    body.add_camera(name=prefix + "mast", pos=[LENGTH / 2, 0, TRAY_FOOT - 0.1], fovy=75, quat=ahead)
    seen = {"contype": 0, "conaffinity": 0, "mass": 0}
    for side in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        at = [side[0] * (LENGTH / 2 - 0.09), side[1] * (WIDTH / 2 - 0.01), 0.08]
        body.add_geom(type=disc, pos=at, size=[0.08, 0.02, 0], quat=[0.7071, 0.7071, 0, 0], rgba=RUBBER, **seen)
    carried = body.add_body(name=prefix + TRAY_BODY, pos=[0, 0, TRAY_FOOT + TRAY[2] / 2], gravcomp=1)
    x, y, z = (v / 2 for v in TRAY)
    wall = TRAY_WALL / 2
    surface = {"type": box, "friction": [1.0, 0.02, 0.003], "rgba": PLATE}
    carried.add_geom(pos=[0, 0, -z + wall], size=[x, y, wall], mass=1.0, **surface)
    for side_axis, sign in ((0, 1), (0, -1), (1, 1), (1, -1)):
        at, size = [0.0, 0.0, 0.0], [x, y, z]
        at[side_axis], size[side_axis] = sign * ((x, y)[side_axis] - wall), wall
        carried.add_geom(pos=at, size=size, mass=0.1, **surface)

"""Bodies that lie: a fault put into a body's world, kept up as long as it moves, whatever the body says."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from worldfs.robots.mujoco import panda
from worldfs.robots.mujoco.motion_control import CLOSE

Lie = Callable[[Any], None]  # told to a `conftest.Hand`


def always(hand: Any, act: Callable[[], None], every: int = 1) -> None:
    """`act` is called every so many steps of the world, from now on."""
    mover = hand.body.arm.mover
    mover.watch_every, mover.watch = every, act


def put(rig: Any, id: str, position: Any = None, quat: Any = None, *, still: bool = True) -> None:
    at, speed = rig.qpos[id], rig.dof[id]
    if position is not None:
        rig.simulation.data.qpos[at : at + 3] = position
    if quat is not None:
        rig.simulation.data.qpos[at + 3 : at + 7] = quat
    if still:
        rig.simulation.data.qvel[speed : speed + 6] = 0
    mujoco.mj_forward(rig.simulation.model, rig.simulation.data)


def tipped(angle: float, axis: int = 0) -> tuple[float, ...]:
    quat = [math.cos(angle / 2), 0.0, 0.0, 0.0]
    quat[1 + axis] = math.sin(angle / 2)
    return tuple(quat)


def let_go(hand: Any, id: str) -> bool:
    """The hand has just risen from what it set down."""
    rig = hand.rig
    tcp, at = rig.view.tcp_pose()[0], rig.position(id)
    return bool(rig.fingers_on(id) == 0 and tcp[2] - at[2] > 0.07 and np.hypot(*(tcp - at)[:2]) < 0.05)


def after(id: str, act: Callable[[Any], None]) -> Lie:
    """Whenever the thing was held, then set down, and the hand has risen from it."""

    def lie(hand: Any) -> None:
        held: list[bool] = []

        def look() -> None:
            if hand.rig.fingers_on(id) == 2:
                held.append(True)
            elif held and let_go(hand, id):
                act(hand.rig)

        always(hand, look, 5)

    return lie


# --- faults of the body ---


def unpowered(hand: Any) -> None:
    """No joint has torque; gravity is compensated, so the arm stands where it is."""
    hand.rig.simulation.model.actuator_gainprm[: panda.ARM] = 0
    hand.rig.simulation.model.actuator_biasprm[: panda.ARM] = 0


def deaf(hand: Any) -> None:
    """Commands arrive nowhere: the servos keep the goal that they have."""
    model = hand.rig.simulation.model
    model.actuator_gainprm[: panda.ARM] = 0
    model.actuator_biasprm[: panda.ARM, 0] = np.array(panda.STIFFNESS) * hand.rig.simulation.data.ctrl[: panda.ARM]


def biased(joint: int, off: float) -> Lie:
    """One joint's servo stands `off` rad beside its goal."""

    def lie(hand: Any) -> None:
        # force = gain·ctrl + bias0 − stiffness·q: the goal moves by bias0 / stiffness
        hand.rig.simulation.model.actuator_biasprm[joint, 0] = off * panda.STIFFNESS[joint]

    return lie


def shaking(hand: Any) -> None:
    """A joint never comes to rest."""
    data = hand.rig.simulation.data
    always(hand, lambda: data.qvel.__setitem__(6, 0.6 * math.cos(60 * data.time)))


def fingers(width: float) -> Lie:
    """The gripper's goal is always the same, whatever it is told (m a finger)."""

    def lie(hand: Any) -> None:
        always(hand, lambda: hand.rig.simulation.data.ctrl.__setitem__(panda.ARM, width))

    return lie


jammed_open, jammed_shut = fingers(panda.STROKE), fingers(CLOSE)


def limp(hand: Any) -> None:
    """The gripper's motor has no power."""
    hand.rig.simulation.model.actuator_forcerange[panda.ARM] = 0


# --- faults of the world ---


def gone(id: str) -> Lie:
    """The thing is taken away as soon as the hand is near."""

    def lie(hand: Any) -> None:
        rig = hand.rig

        def act() -> None:
            if np.linalg.norm(rig.view.tcp_pose()[0] - rig.position(id)) < 0.10:
                put(rig, id, rig.position(id) + np.array([0.0, 0.3, 0.0]))

        always(hand, act, 5)

    return lie


def nailed(id: str) -> Lie:
    """The thing weighs far more than any arm lifts."""

    def lie(hand: Any) -> None:
        body = hand.rig.body[id]
        hand.rig.simulation.model.body_mass[body] *= 600
        hand.rig.simulation.model.body_inertia[body] *= 600
        mujoco.mj_setConst(hand.rig.simulation.model, mujoco.MjData(hand.rig.simulation.model))

    return lie


def weightless(id: str, share: float = 1.0) -> Lie:
    """Something unseen carries the thing: a weld that nobody knows of."""

    def lie(hand: Any) -> None:
        rig = hand.rig
        body = rig.body[id]
        rig.simulation.data.xfrc_applied[body, 2] = share * 9.81 * float(rig.simulation.model.body_mass[body])

    return lie


def swapped(id: str, other: str) -> Lie:
    """Once lifted, another thing is in the hand."""

    def lie(hand: Any) -> None:
        rig = hand.rig

        def act() -> None:
            if rig.fingers_on(id) == 2 and rig.position(id)[2] > 0.08:
                here, there = rig.position(id), rig.position(other)
                put(rig, id, there)
                put(rig, other, here)

        always(hand, act, 5)

    return lie

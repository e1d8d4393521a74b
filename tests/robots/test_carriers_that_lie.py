"""Carriers whose world is otherwise than they were told, bodies that touch, and hand-overs that somebody disturbs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from worldfs.base.messages import render
from worldfs.robots.mujoco import carrier_model
from worldfs.testing.workcell import Workcell

from . import lies
from .test_carrier import CART, LOADED, SCENE, STEPS, A, B


def fallen(cell: Workcell) -> None:
    lies.put(cell.rig(CART), "cube", (-3.0, 0.0, -0.7))


def lifted(cell: Workcell) -> None:
    """Something unseen holds the cube up over the tray: it comes along by nothing that touches it."""
    rig = cell.rig(CART)
    rig.simulation.data.xfrc_applied[rig.body["cube"], 2] = 9.81 * 0.1


def unpowered(cell: Workcell) -> None:
    model, servos = cell.simulation.model, cell.body(CART).view.servos
    model.actuator_gainprm[servos] = 0
    model.actuator_biasprm[servos] = 0


def biased(cell: Workcell) -> None:
    servos = cell.body(CART).view.servos
    cell.simulation.model.actuator_biasprm[servos, 0] = 0.05 * carrier_model.STIFFNESS


def rolling(cell: Workcell) -> None:
    view = cell.body(CART).view
    cell.simulation.data.qvel[view.dof.start] = 0.3 * math.cos(40 * cell.simulation.data.time)


LIES = {
    "the cube falls off": (fallen, "CARGO_LOST"),
    "the cube hangs on something unseen": (lifted, "CARGO_LOST"),
    "its drives have no power": (unpowered, "NOT_AT_GOAL"),
    "its drives stand beside their goal": (biased, "NOT_AT_GOAL"),
    "it does not come to rest": (rolling, "NOT_AT_GOAL"),
}


@pytest.mark.parametrize("name", LIES)
def test_no_drive_of_a_body_that_lies_succeeds(name):
    lie, code = LIES[name]
    cell = Workcell(LOADED, (A,), (CART,))
    mover, began = cell.body(CART).mover, []

    def act() -> None:
        if lie in (rolling, unpowered, biased) or not began:
            began.append(True)
            lie(cell)

    mover.watch_every, mover.watch = 5, act
    done = cell.do(CART, "move_to", target_pose=[-1.4, 0.45, 0.0])
    assert not done.ok and done.code == code, done


def test_a_planted_contact_between_two_bodies_is_measured_and_nothing_succeeds():
    cell = Workcell(LOADED, (A, B), (CART, "cart_2"))
    view, other = cell.body(CART).view, cell.body("cart_2").view

    def act() -> None:  # the other is put against its side as it drives
        beside = view.position()[:2] - [0.0, carrier_model.WIDTH - 0.003]
        cell.simulation.data.qpos[other.qpos] = beside - other.start[:2]
        other.hold()

    mover = cell.body(CART).mover
    mover.watch_every, mover.watch = 100, act
    done = cell.do(CART, "move_to", target_pose=[-1.2, 0.45, 0.0])
    assert not done.ok and done.code == "BODIES_TOUCHED", done
    touch = done.evidence["touched"][0]
    assert {touch["one"], touch["other"]} == {CART, "cart_2"} and touch["depth_m"] > 0
    assert "cart_2" in render(done.message, "en")


def test_a_hand_that_is_pushed_into_the_other_arm_is_a_touch_of_both():
    cell = Workcell(SCENE, (A, B))
    near, far = cell.body(A), cell.body(B)
    hand, _ = near.view.tcp_pose()
    q = far.solver.solve(far.view.joints(), hand + np.array([0.0, 0.0, 0.05]), far.view.tcp_pose()[1])
    assert q is not None

    def act() -> None:
        cell.simulation.data.qpos[far.view.joint_qpos] = q
        cell.simulation.data.ctrl[far.view.servos] = q

    near.mover.watch_every, near.mover.watch = 20, act
    done = cell.do(A, "strategy", name="open_gripper")
    assert not done.ok and done.code == "BODIES_TOUCHED" and B in done.message, done


def _snatched(cell: Workcell) -> None:
    lies.put(cell.rig(A), "cube", (-3.0, 2.0, -0.7))


@pytest.mark.slice(6)
@pytest.mark.parametrize("at", [k for k, step in enumerate(STEPS) if step[1] != "strategy"])
def test_no_step_of_a_hand_over_succeeds_when_the_thing_is_snatched_away_meanwhile(at):
    cell = Workcell(SCENE, (A, B), (CART,))
    for number, (id, op, params) in enumerate(STEPS):
        if number < at:
            assert cell.do(id, op, **params).ok
            continue
        mover, taken = cell.body(id).mover, []

        def act(taken: list[bool] = taken) -> None:
            if not taken:
                taken.append(True)
                _snatched(cell)

        mover.watch_every, mover.watch = 200, act
        if number == 0:  # nothing is carried yet: the drives themselves fail
            unpowered(cell)
        done = cell.do(id, op, **params)
        assert not done.ok, done
        break

"""The walk by itself: legs that are where they should be, a trunk that stays up, in simulated time."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from worldfs.base.model import Scene
from worldfs.robots.mujoco.quadruped import leg
from worldfs.robots.mujoco.quadruped.floor_world import FloorWorld
from worldfs.robots.mujoco.quadruped.gait import HEIGHT
from worldfs.robots.mujoco.quadruped.quadruped_model import MASS, RANGES, TORQUE
from worldfs.robots.mujoco.quadruped.walker import QuadrupedFallen, Walker
from worldfs.robots.mujoco.scene_layout import layout
from worldfs.robots.mujoco.tabletop import Tabletop


def standing() -> tuple[FloorWorld, Walker]:
    dog = Tabletop(layout(Scene(), quadrupeds=("dog",))).quadruped("dog")
    dog.walker.begin(lambda: "")
    return dog.floor, dog.walker


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_angles_and_foot_are_each_others_inverse_and_the_torques_are_the_jacobian(side: float) -> None:
    dice = random.Random(7)
    for _ in range(300):
        joints = (dice.uniform(-0.5, 0.5), dice.uniform(0.2, 1.4), dice.uniform(-2.2, -1.0))
        there = leg.foot(joints, side)
        if there[2] > -0.15:
            continue
        assert leg.angles(there, side) == pytest.approx(joints, abs=1e-9)
        force = (3.0, -5.0, 20.0)
        for joint, torque in enumerate(leg.torques(joints, side, force)):
            more, less = ([*joints] for _ in "12")
            more[joint] += 1e-6
            less[joint] -= 1e-6
            way = np.subtract(leg.foot((*more,), side), leg.foot((*less,), side)) / 2e-6
            assert torque == pytest.approx(-float(way @ force), abs=1e-4)


def test_the_model_has_the_published_mass_ranges_and_torques() -> None:
    model = standing()[0].simulation.model
    assert model.body_subtreemass[model.body("trunk").id] == pytest.approx(MASS, abs=0.02)
    for part, torque in TORQUE.items():
        assert model.actuator(f"RL_{part}").forcerange.tolist() == [-torque, torque]
        assert model.joint(f"RL_{part}").range.tolist() == pytest.approx(RANGES[part][2])


def test_its_legs_carry_its_weight_without_sagging() -> None:
    world, walker = standing()
    heights = [walker.walk((0.4 if tick > 100 else 0.0, 0.0, 0.0)).z for tick in range(600)]
    assert heights[90] == pytest.approx(HEIGHT, abs=0.003)
    assert sum(heights[200:]) / 400 == pytest.approx(HEIGHT, abs=0.01)
    assert world.view.pose().up > 0.95


WALKS = (
    (0.2, 0.0, 0.0), (0.5, 0.0, 0.0), (0.8, 0.0, 0.0), (-0.3, 0.0, 0.0), (0.4, 0.0, 0.5), (0.6, 0.0, -0.6),
    (0.0, 0.0, 0.5), (0.0, 0.0, -0.9),
)  # fmt: skip


@pytest.mark.slice(9)
@pytest.mark.parametrize("seconds", [8, pytest.param(60, marks=pytest.mark.proof)])
@pytest.mark.parametrize("command", WALKS)
def test_it_walks_as_fast_as_it_is_told_and_does_not_fall(command: tuple[float, float, float], seconds: int) -> None:
    world, walker = standing()
    way = turned = 0.0
    pose = world.view.pose()
    for _ in range(100 * seconds):
        then = walker.walk(command)
        step = (then.x - pose.x, then.y - pose.y)
        way += math.cos(pose.yaw) * step[0] + math.sin(pose.yaw) * step[1]
        turned += math.remainder(then.yaw - pose.yaw, math.tau)
        assert then.up > 0.85 and 0.25 < then.z < 0.33
        pose = then
    assert way == pytest.approx(seconds * command[0], abs=seconds / 30)
    assert turned == pytest.approx(seconds * command[2], abs=seconds / 20)
    assert walker.stand() and world.view.pose().up > 0.99


@pytest.mark.slice(9)
@pytest.mark.parametrize("push", [(40.0, 0.0), (0.0, 40.0), (-40.0, 0.0), (0.0, -60.0), (60.0, 60.0)])
@pytest.mark.parametrize("command", [(0.0, 0.0, 0.0), (0.5, 0.0, 0.0), (0.0, 0.0, 0.8)])
def test_it_stays_up_when_it_is_pushed(push: tuple[float, float], command: tuple[float, float, float]) -> None:
    world, walker = standing()
    trunk = world.simulation.model.body("trunk").id
    for tick in range(700):
        world.simulation.data.xfrc_applied[trunk, :2] = push if 200 <= tick < 220 else (0.0, 0.0)
        walker.walk(command)
    assert walker.stand() and world.view.pose().up > 0.99


def test_a_push_that_is_too_much_is_told_as_a_fall() -> None:
    world, walker = standing()
    world.simulation.data.xfrc_applied[world.simulation.model.body("trunk").id, 1] = 400.0
    with pytest.raises(QuadrupedFallen):
        for _ in range(300):
            walker.walk((0.3, 0.0, 0.0))

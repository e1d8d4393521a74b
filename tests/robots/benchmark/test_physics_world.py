"""Honest worlds: what is drawn acts on the physics, stands in the record, and is nothing that the robot was told."""

from __future__ import annotations

import numpy as np
import pytest

from worldfs.plugins.benchmark.handling_trials import CUBE, ROBOT, table_with, thing
from worldfs.plugins.benchmark.physics_world import PhysicsWorld
from worldfs.robots.mujoco import support
from worldfs.robots.mujoco.tabletop_driver import TabletopDriver


@pytest.fixture
def arm():
    def opened(world: PhysicsWorld):
        told = table_with([thing("cube", CUBE, (0.5, 0.1), np.eye(3))])
        body = TabletopDriver(ROBOT, cameras=False)
        bodies.append(body)
        body.open(world.true_scene(told))
        world.apply(body.arm, told)
        return body.arm

    bodies: list[TabletopDriver] = []
    yield opened
    for body in bodies:
        body.close()


def test_friction_mass_and_size_are_the_drawn_ones_and_the_robot_goes_by_the_told_ones(arm):
    one = arm(PhysicsWorld(friction=0.3, mass=2.0, size=1.1))
    data = one.simulation.data
    assert data.ncon and np.allclose(data.contact.friction[:, 0], 0.3)
    assert sum(support.loads(one.rig, "cube").values()) == pytest.approx(2 * 0.1 * 9.81, rel=0.02)
    assert one.rig.position("cube")[2] == pytest.approx(1.1 * 0.025, abs=0.0005)
    assert one.rig.things["cube"].size == (0.05,) * 3 and one.rig.things["cube"].mass == 0.1


def test_a_delayed_arm_begins_late_and_arrives(arm):
    one = arm(PhysicsWorld(delay=0.1))
    start, goal = one.view.joints(), one.view.joints() + 0.1
    one.mover.play(np.repeat(goal[None], 45, axis=0), np.zeros((45, 7)))  # 90 ms
    assert np.allclose(one.view.joints(), start, atol=1e-3)
    one.mover.wait(0.8)
    assert np.allclose(one.view.joints(), goal, atol=0.01)

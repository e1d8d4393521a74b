"""How far the hand goes when it pushes: as far as was ordered, whatever the thing does; a thing that the fingers would
pass over is refused. Measured from the simulation's own state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from worldfs.base import pushing
from worldfs.base.model import Thing
from worldfs.robots.mujoco import push

START = 0.25  # m, y of the thing; it is pushed to the right, towards smaller y
SHAPES = {"coin": ("cylinder", 0.05), "sheet": ("box", 0.08)}
GLASS = Thing("glass", shape="cylinder", size=(0.05, 0.05, 0.12), mass=0.2)
OFF = 0.001  # m that a servo runs over
DISTANCES = (0.01, 0.03, 0.08)


def thin(name: str, height: float, mass: float = 0.01) -> Thing:
    shape, width = SHAPES[name]
    return Thing("thin", shape=shape, size=(width, width, height), mass=mass, position=(0.5, START, height / 2))


def pushed(opened, thing: Thing, distance: float):
    """The outcome, how far the hand went after the contact (m), and how far a glass beyond it was moved (m)."""
    glass = replace(GLASS, position=(0.5, START - thing.size[1] / 2 - distance - 0.025 - 0.03, 0.06))
    hand = opened(thing, glass)
    arm = hand.body.arm
    low: list[float] = []

    def look() -> None:
        point = arm.view.tcp_pose()[0]
        if point[2] < 0.05:
            low.append(float(point[1]))

    arm.mover.watch, arm.mover.watch_every = look, 5
    stood = arm.rig.position("glass")
    found = hand.review("push", object_id="thin", direction="right", distance=distance)
    done = hand.do("push", object_id="thin", direction="right", distance=distance)
    arm.mover.watch = None
    assert not (found and done.ok)
    travel = START + thing.size[1] / 2 + push.PAD - min(low, default=START + thing.size[1])
    return found, done, travel, float(np.linalg.norm(arm.rig.position("glass") - stood))


@pytest.mark.slice(4)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("height", [0.001, 0.002, 0.004, 0.006, 0.01])
@pytest.mark.parametrize("name", SHAPES)
def test_a_thin_thing_is_pushed_as_far_as_ordered_or_refused(name, height, distance, opened):
    found, done, travel, moved = pushed(opened, thin(name, height), distance)
    if height < pushing.LOWEST:
        assert [one.code for one in found] == ["CRITIC_REFUSED"] and "pass over" in found[0].found
        assert not done.ok and travel < 0.0
    else:
        assert found == [] and done.ok, done.message
    assert travel <= distance + pushing.tolerance(distance) + OFF and moved < 0.001


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("name", SHAPES)
def test_the_hand_ends_at_the_planned_end_though_the_thing_stays(name, distance, opened, monkeypatch):
    monkeypatch.setattr(pushing, "LOWEST", 0.0)
    found, done, travel, moved = pushed(opened, thin(name, 0.002), distance)
    assert found == [] and done.code == "NOT_AT_GOAL", done
    assert travel <= distance + pushing.tolerance(distance) + OFF and moved < 0.001


SHEET = Thing("sheet", shape="box", size=(0.2, 0.15, 0.002), mass=0.02, position=(0.45, 0.1, 0.001))
BOX = Thing("box", shape="box", size=(0.05, 0.05, 0.05), mass=0.1, position=(0.45, -0.03, 0.025))


@pytest.mark.parametrize("height", [0.0002, 0.001, 0.002, 0.003, 0.005])
@pytest.mark.parametrize(("shape", "width"), [("box", 0.1), ("cylinder", 0.024)])
def test_a_push_over_a_thin_thing_is_refused_however_thin(shape, width, height, opened):
    flat = replace(SHEET, shape=shape, size=(width, width, height), position=(0.45, 0.09, height / 2))
    hand = opened(flat, BOX)
    (found,) = hand.review("push", object_id="box", direction="left", distance=0.15)
    assert found.code == "CRITIC_REFUSED" and "box-sheet" in found.found
    assert hand.review("push", object_id="box", direction="right", distance=0.1) == []


@pytest.mark.parametrize("height", [0.002, 0.003, 0.005])
def test_a_push_whose_hand_would_touch_a_thin_thing_is_refused(height, opened):
    low = Thing("low", shape="box", size=(0.04, 0.04, 0.02), mass=0.1, position=(0.45, 0.0, 0.01))
    beside = replace(SHEET, size=(0.03, 0.06, height), position=(0.45, -0.06, height / 2))  # behind it
    hand = opened(low, beside)
    done = hand.do("push", object_id="low", direction="left", distance=0.08)
    assert np.linalg.norm(hand.rig.position("sheet") - beside.position) < 0.001, done
    assert done.ok or done.code in ("CRITIC_REFUSED", "PLAN_FAILED")

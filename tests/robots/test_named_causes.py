"""A refusal names the cause that was found: in physics, and in the clause that a person reads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from worldfs.base.messages import render
from worldfs.base.model import Cause, Outcome, Thing
from worldfs.planning.planner.failure_reasons import short_reason

CUBE = Thing("cube", "cube", "block", (0.45, 0.1, 0.0255), size=(0.05,) * 3, shape="box", mass=0.1)
BASE = replace(CUBE, id="base", name="base block", size=(0.06, 0.06, 0.05))
ON_IT = replace(CUBE, id="top", name="top block", position=(0.45, 0.1, 0.0705), size=(0.04,) * 3)
UNREACHED = "no joint angles reach a grasp of it"
WALLS = [
    replace(CUBE, id=f"wall_{n}", name=f"wall {n}", position=(0.45 + dx, 0.1 + dy, 0.0755), size=size, mass=2.0)
    for n, (dx, dy, size) in enumerate((
        (0.055, 0.0, (0.05, 0.16, 0.15)), (-0.055, 0.0, (0.05, 0.16, 0.15)),
        (0.0, 0.055, (0.05, 0.05, 0.15)), (0.0, -0.055, (0.05, 0.05, 0.15)),
    ))
]  # fmt: skip


@pytest.mark.parametrize(
    ("things", "id", "words"),
    [
        ((replace(CUBE, size=(0.05, 0.05, 0.004), position=(0.45, 0.1, 0.0025)),), "cube",
         "cube is too small for this gripper: 4 mm: at least 6 mm (min grip width)"),
        ((replace(CUBE, size=(0.1, 0.1, 0.05)),), "cube", "too wide for the gripper"),
        ((BASE, ON_IT), "base", "the top block on top of it"),
        ((replace(CUBE, position=(0.12, 0.12, 0.0255)),), "cube", "too near to the robot: its arm would hit itself"),
        ((replace(CUBE, position=(0.86, 0.3, 0.0255)),), "cube", f"0.911 m from the base: {UNREACHED}"),
        ((CUBE, *WALLS), "cube", "the robot would hit the wall"),
    ],
)  # fmt: skip
def test_a_refused_grasp_says_why(opened, things, id, words):
    hand = opened(*things)
    findings = hand.review("pick_up", object_id=id)
    assert findings, "it is refused"
    scene = hand.body.observe()
    named = {thing.id: thing.name for thing in things}
    scene = replace(scene, objects=tuple(replace(t, name=named[t.id]) for t in scene.objects))
    outcome = Outcome.failure(Cause.REJECTED, "CRITIC_REFUSED", str(findings[0]), findings=tuple(findings))
    assert words in render(short_reason(outcome, scene, id), "en")


@pytest.mark.parametrize("high", [0.006, 0.008, 0.012, 0.014])
@pytest.mark.parametrize("shape", ["box", "cylinder"])
def test_low_things_are_taken_and_set_down(opened, shape, high):
    """Things below 16 mm: the pads come down to a millimetre over the table."""
    hand = opened(
        Thing("thing", position=(0.45, 0.1, high / 2 + 0.0003), size=(0.03, 0.03, high), shape=shape, mass=0.02)
    )
    done = hand.do("pick_up", object_id="thing")
    assert done.ok, done.message
    done = hand.do("place", target_position=[0.5, -0.1, high / 2])
    assert done.ok, done.message

"""ReKep on the adapter of a real arm (its client a stand-in): led by poses to where the page says that things are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="the table of the runtime's other half")

from worldfs.base.driver import Run
from worldfs.base.model import Cause, Skill
from worldfs.plugins.rekep.rekep_runtime import ReKepPolicyRuntime
from worldfs.skills.skill_runtime import SkillContext, SkillRequest

from .conftest import let_pass

PAGE = """# ENVIRONMENT

```json
{"robots": [{"robot_id": "real_franka", "pose": [0.1, 0, 0]}],
 "objects": [{"id": "apple_01", "name": "apple", "position": [0.6, 0.05, 0.1], "size": [0.066, 0.066, 0.066],
              "shape": "sphere"}]}
```
"""


def request(home: Any, id: str = "apple_01") -> SkillRequest:
    return SkillRequest("j1", Skill("rekep_pick", "ReKepPolicyRuntime"), {"object_id": id}, home=home)


@pytest.fixture
def led(take: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An arm whose own time passes while it is led, between two steps."""
    target, plant = take("franka")
    monkeypatch.setattr(target.context.clock, "wait", lambda event, seconds: let_pass(target, seconds))
    return target, plant


def test_an_arm_is_led_to_the_thing_and_stands_when_time_is_up(led: Any, tmp_path: Any) -> None:
    (tmp_path / "ENVIRONMENT.md").write_text(PAGE)
    target, plant = led
    runtime, clock = ReKepPolicyRuntime(), target.context.clock
    assert runtime.review(request(tmp_path), target) == []
    (unknown,) = runtime.review(request(tmp_path, "moon"), target)
    assert unknown.code == "UNKNOWN_OBJECT" and "apple_01" in unknown.expected
    goal = np.array([0.5, 0.05, 0.1])  # in the base's frame
    before = math.dist(target.observe()["ee_pose"][:3], goal)
    run = Run(clock, clock.monotonic() + 2.5)
    outcome = runtime.perform(request(tmp_path), SkillContext(target, None, run))
    assert outcome.cause is Cause.TIMEOUT, outcome
    assert math.dist(target.observe()["ee_pose"][:3], goal) < before - 0.05
    target.set_run(None)
    let_pass(target, 0.3)
    assert plant.still


@pytest.mark.slice(0)
def test_fingers_that_close_on_nothing_hold_nothing(led: Any, tmp_path: Any) -> None:
    page = PAGE.replace("[0.6, 0.05, 0.1]", "[0.58, 0.0, 0.35]")
    (tmp_path / "ENVIRONMENT.md").write_text(page)
    target, _ = led
    runtime, clock = ReKepPolicyRuntime(), target.context.clock
    run = Run(clock, clock.monotonic() + 60)
    one = request(tmp_path)
    outcome = runtime.perform(one, SkillContext(target, None, run))
    assert outcome.code == "GRASP_MISSED", outcome

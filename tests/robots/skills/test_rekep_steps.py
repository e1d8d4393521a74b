"""ReKep on a target that only takes poses, and on one that takes nothing of the kind."""

from __future__ import annotations

import numpy as np
import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.driver import PluginContext, Run
from worldfs.base.model import Cause, RobotState, Scene, Target
from worldfs.robots.targets.sim_target import adapter

from .conftest import APPLE, BASKET, CAN, CUBE, TABLE


class Port:
    """The port of targets and nothing else: the table, its own arm hidden."""

    def __init__(self, kinds=("ee_pose",)):
        scene = Scene((RobotState("sim"),), (APPLE, CUBE, CAN), (TABLE, BASKET))
        inner = adapter(Target("sim", "sim", backend="mujoco"), PluginContext(SystemClock(), scene=scene))
        self.inner, self.target, self._kinds = inner, inner.target, kinds
        for name in ("open", "reset", "observe", "scene", "stop", "close", "sensors", "observations"):
            setattr(self, name, getattr(inner, name))
        self.steps, self.before = 0, None

    def actions(self):
        return [spec for spec in self.inner.actions() if spec.representation in self._kinds]

    def step(self, action, representation):
        assert representation in self._kinds
        self.steps += 1
        if self.before is not None:
            self.before(self)
        return self.inner.step(action, representation)


@pytest.mark.slice(3)
@pytest.mark.parametrize(
    ("skill", "params", "done"),
    [
        ("rekep_pick", {"object_id": "apple_01"}, lambda rig: rig.held() == "apple_01"),
        ("rekep_place", {"object_id": "cube_01", "target_position": [0.5, -0.1, 0.0]},
         lambda rig: np.linalg.norm(rig.position("cube_01")[:2] - [0.5, -0.1]) < 0.03),
        ("rekep_place", {"object_id": "apple_01", "target_id": "basket_01"},
         lambda rig: rig.position("apple_01")[1] < -0.2),
    ],
)  # fmt: skip
def test_a_target_that_takes_poses_is_enough(stand, skill, params, done):
    port = Port()
    table = stand(target=port)
    assert table.review(skill, **params) == []
    outcome = table.do(skill, **params)
    assert outcome.ok, (outcome.message, outcome.evidence["stages"])
    assert done(port.inner.arm.rig) and port.steps > 50 and outcome.evidence["hand"] == "ee_pose steps"


def test_a_target_that_takes_no_poses_is_told_so(stand):
    table = stand(target=Port(("joint_position",)))
    (found,) = table.review("rekep_pick", object_id="apple_01")
    assert found.code == "ACTION_BRIDGE_MISSING" and "ee_pose" in found.expected and found.found == "joint_position"
    outcome = table.do("rekep_pick", object_id="apple_01")
    assert outcome.cause is Cause.REJECTED and outcome.code == "ACTION_BRIDGE_MISSING"


def test_a_cancel_stops_it_where_it_is_and_the_next_session_goes_on(stand):
    port = Port()
    table = stand(target=port)
    run = Run(table.clock, table.clock.monotonic() + 100)

    def stop(port):
        if port.steps == 60:
            run.cancel.set()

    port.before = stop
    outcome = table.do("rekep_pick", object_id="apple_01", run=run)
    assert outcome.cause is Cause.CANCELLED
    port.inner.arm.mover.wait(0.1)
    assert float(np.max(np.abs(port.inner.arm.simulation.data.qvel[:7]))) < 0.05
    port.before = None
    assert table.do("rekep_pick", object_id="apple_01").ok

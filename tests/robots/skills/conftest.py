"""A table as a target, and skills on it said shortly."""

from __future__ import annotations

import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")
pytest.importorskip("gymnasium", reason="the simulation is an extra")

from worldfs.base.clock import SystemClock
from worldfs.base.driver import PluginContext, Run
from worldfs.base.model import CameraSpec, RobotState, Scene, Skill, Target, Thing
from worldfs.plugins.rekep.rekep_runtime import ReKepPolicyRuntime
from worldfs.robots.targets.sim_target import adapter
from worldfs.skills.skill_runtime import SkillContext, SkillRequest

TABLE = Thing("table_01", category="furniture", position=(0.45, 0.0, 0.0), size=(0.9, 1.2, 0.75), shape="table")
BASKET = Thing("basket_01", category="container", position=(0.4, -0.4, 0.045), size=(0.3, 0.4, 0.09), shape="basket")
APPLE = Thing("apple_01", "red apple", "fruit", (0.5, 0.1, 0.0335), size=(0.066,) * 3, shape="sphere", mass=0.15)
CUBE = Thing("cube_01", "blue cube", "cube", (0.45, 0.3, 0.0255), size=(0.05,) * 3, shape="box", mass=0.1)
CAN = Thing("can_01", "green can", "can", (0.55, 0.25, 0.0555), size=(0.06, 0.06, 0.11), shape="cylinder", mass=0.3)


class Stand:
    """A target with a runtime: `review` and `do` a skill by its id and params."""

    def __init__(self, *things, home=None, target=None, extra=None, cameras=(), model=None):
        self.clock = SystemClock()
        scene = Scene((RobotState("sim"),), things, (TABLE, BASKET))
        cameras = tuple(CameraSpec(name) for name in cameras)
        self.target = target or adapter(
            Target("sim", "sim", backend="mujoco", cameras=cameras), PluginContext(self.clock, scene=scene)
        )
        self.target.open()
        self.runtime, self.home, self.extra, self.model = ReKepPolicyRuntime(), home, extra or {}, model

    @property
    def rig(self):
        return self.target.arm.rig

    def request(self, skill, words="", **params):
        written = Skill(skill, "ReKepPolicyRuntime", extra=self.extra)
        model = {} if self.model is None else {"model": self.model}
        return SkillRequest("j1", written, params, words, home=self.home, **model)

    def review(self, skill, words="", **params):
        return list(self.runtime.review(self.request(skill, words, **params), self.target))

    def do(self, skill, words="", run=None, policy=None, **params):
        run = run or Run(self.clock, self.clock.monotonic() + 100)
        return self.runtime.perform(self.request(skill, words, **params), SkillContext(self.target, policy, run))

    def at(self, moment):
        """`moment(rig)` is called every 20 ms of the world's time while the arm moves."""
        mover = self.target.arm.mover
        mover.watch_every = 10
        mover.watch = lambda: moment(self.rig)


@pytest.fixture
def stand():
    made = []

    def make(*things, **more):
        made.append(Stand(*(things or (APPLE, CUBE, CAN)), **more))
        return made[-1]

    yield make
    for one in made:
        one.target.close()

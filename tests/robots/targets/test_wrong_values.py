"""What an environment, a robot or its safety layer is told is parsed: what is merely like a success is none."""

import math

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="environments are an extra")

import gymnasium

from worldfs.base.driver import PluginContext
from worldfs.base.errors import UserError
from worldfs.base.model import Target
from worldfs.base.plugin_values import WrongValue
from worldfs.robots.targets.gym_target import GymTarget
from worldfs.robots.targets.robots.robot_interface import RobotReading
from worldfs.robots.targets.safety import FROZEN_S, ArmSafety, judge
from worldfs.robots.targets.safety_limits import SafetyLimits
from worldfs.robots.targets.target_adapter import TargetStopped
from worldfs.testing.manual_clock import ManualClock


class Liar(gymnasium.Env):
    """Its step is what the test says."""

    observation_space = gymnasium.spaces.Box(-1, 1, (2,))
    action_space = gymnasium.spaces.Box(-1, 1, (2,))
    metadata = {"render_modes": [], "render_fps": 10}  # noqa: RUF012  # as Gymnasium has it
    answer = None

    def reset(self, *, seed=None, options=None):
        return np.zeros(2, np.float32), {}

    def step(self, action):
        told = type(self).answer
        return told() if callable(told) else told


def target():
    gymnasium.register("Liar-v0", Liar) if "Liar-v0" not in gymnasium.registry else None
    kwargs = {"disable_env_checker": True}
    entry = Target("gym", "sim", backend="gymnasium", config={"env_id": "Liar-v0", "kwargs": kwargs})
    made = GymTarget(entry, PluginContext(ManualClock()))
    made.open()
    return made


def step(**told):
    seen = told.pop("seen", np.zeros(2, np.float32))
    parts = {"reward": 0.0, "terminated": False, "truncated": False, "info": {}} | told
    return (seen, parts["reward"], parts["terminated"], parts["truncated"], parts["info"])


SUCCESSES = [
    "false",
    "no",
    math.nan,
    [False],
    np.array([False, True]),
    np.array([True]),
    -1,
    1,
    1.0,
    {"success": False},
]
ANSWERS = [
    *(step(info={"is_success": one}) for one in SUCCESSES), *(step(info={"success": one}) for one in SUCCESSES),
    step(terminated="no"), step(terminated=1), step(truncated=np.array([True])), step(reward=math.nan),
    step(reward="1"), step(reward=None), step(info=None), step(info="x"), step(seen=np.array([math.nan, 0])),
    step(seen=None), step(seen={"a": object()}), None, True, step()[:4], list(step()), "done",
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(ANSWERS)))
def test_a_step_of_an_environment_that_is_not_gymnasiums_ends_the_session(case):
    made = target()
    Liar.answer = ANSWERS[case]
    with pytest.raises(WrongValue) as refused:
        made.step(np.zeros(2), "raw")
    assert "Liar-v0 step" in refused.value.path and refused.value.expected


@pytest.mark.parametrize(
    ("said", "success"), [(True, True), (np.bool_(True), True), (np.bool_(False), False), (None, None)]
)
def test_a_truth_value_of_gymnasium_is_one(said, success):
    made = target()
    Liar.answer = step(info={"is_success": said}, terminated=np.bool_(True), reward=np.float32(0.5))
    result = made.step(np.zeros(2), "raw")
    assert (result.success, result.terminated, result.reward) == (success, True, 0.5)
    assert type(result.success) in (bool, type(None))


def raises(error):
    def call():
        raise error

    return call


@pytest.mark.parametrize("error", [SystemExit(0), GeneratorExit()])
def test_an_environment_that_exits_ends_its_session_only(error):
    made = target()
    Liar.answer = staticmethod(raises(error))
    with pytest.raises(UserError):
        made.step(np.zeros(2), "raw")


@pytest.mark.parametrize("call", ["__init__", "reset", "action_space", "close"])
@pytest.mark.parametrize("error", [SystemExit(0), GeneratorExit()])
def test_an_environment_that_exits_anywhere_ends_its_session_only(monkeypatch, call, error):
    raising = property(lambda self: raises(error)()) if call == "action_space" else lambda self, **more: raises(error)()
    made = target() if call in ("action_space", "close") else None
    monkeypatch.setattr(Liar, call, raising)
    with pytest.raises(UserError):
        (made.actions if call == "action_space" else made.close if call == "close" else target)()


def test_an_environment_is_closed_once(monkeypatch):
    made, closed = target(), []
    monkeypatch.setattr(Liar, "close", lambda self: closed.append("closed"))
    made.close()
    made.close()
    assert len(closed) == 1


LIMITS = SafetyLimits(joint_low=np.full(2, -3.0), joint_high=np.full(2, 3.0), joint_speed=np.full(2, 1.0), follow=0.3)


@pytest.mark.parametrize("at", [math.nan, math.inf, -math.inf, 100.0, -100.0])
def test_a_state_of_no_time_or_of_a_time_to_come_is_none_to_move_by(at):
    reading = RobotReading(at, np.zeros(2))
    assert judge(reading, LIMITS, 0.0) and not judge(RobotReading(0.0, np.zeros(2)), LIMITS, 0.0)


def test_joints_that_read_the_very_same_however_they_are_commanded_stop_the_arm():
    arm = ArmSafety(LIMITS, None, ("a", "b"), 0.05)
    joints = np.array([0.1, 0.2])
    arm.begin(RobotReading(0.0, joints))
    with pytest.raises(TargetStopped, match="exactly the same"):
        for _ in range(int(FROZEN_S / 0.05) + 3):
            arm.bound(RobotReading(0.0, joints), np.array([1.0, 0.0, 0.0]), "joint_velocity", 0.05)


def test_joints_that_follow_a_little_or_are_not_commanded_stop_nothing():
    arm = ArmSafety(LIMITS, None, ("a", "b"), 0.05)
    joints = np.array([0.1, 0.2])
    arm.begin(RobotReading(0.0, joints))
    for _ in range(100):
        arm.bound(RobotReading(0.0, joints), np.zeros(3), "joint_velocity", 0.05)
    for number in range(100):
        joints = joints + np.array([0.002 * (number % 3 == 0), 0.0])
        arm.bound(RobotReading(0.0, joints), np.array([0.02, 0.0, 0.0]), "joint_velocity", 0.05)

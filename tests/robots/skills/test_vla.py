"""The loop of a policy: chunks, limits, stops, failures, and what is measured."""

import threading
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from worldfs.base import model
from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.model import Cause, PolicySpec, Skill, Target
from worldfs.policies.policy_client import ActionChunk, PolicyError, PolicyInfo
from worldfs.robots.targets.target_adapter import ActionSpec, StepResult
from worldfs.sessions.plugins import SKILLS
from worldfs.skills.skill_runtime import SkillContext, SkillRequest
from worldfs.skills.vla import VLAPolicyRuntime
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.waiting import PATIENCE_S, until

SPEC = PolicySpec("http", "http://localhost:1/predict")


class Line:
    """A target on a line: `ee_delta` moves x; success at `goal`."""

    def __init__(self, clock, *, goal=np.inf, kind="sim", takes=0.0, ends=None, stuck=None):
        self.target = Target("line", kind)
        self.clock, self.goal, self.takes, self.ends, self.stuck = clock, goal, takes, ends, stuck
        self.x, self.stopped, self.actions, self.resets, self.times = 0.0, 0, [], [], []

    def actions_(self):
        return (ActionSpec("ee_delta", (7,), np.full(7, -1.0), np.full(7, 1.0), 50.0),)

    def observations(self):
        return {"ee_pose": ((7,), "float64")}

    def observe(self):
        return {"ee_pose": np.array([self.x, 0, 0, 1, 0, 0, 0])}

    def reset(self, *, seed=None, options=None):
        self.resets.append((seed, options))
        self.x = 0.0
        return self.observe()

    def step(self, action, representation):
        assert representation == "ee_delta"
        self.times.append(self.clock.monotonic())
        if self.stuck:
            self.stuck()
        if isinstance(self.clock, ManualClock):
            self.clock.advance(self.takes)
        self.actions.append(action)
        self.x += action[0]
        ended = self.ends is not None and len(self.actions) >= self.ends
        return StepResult(self.observe(), 0.5, terminated=ended, success=self.x >= self.goal - 1e-6, clamped=("speed",))

    def scene(self):
        return model.Scene()

    def stop(self):
        self.stopped += 1


Line.actions = Line.actions_  # the port's name, which the list of actions taken has in instances


@dataclass
class Steady:
    """Answers chunks of 0.1 along x; action k of the chunk has k in y."""

    spec: PolicySpec = SPEC
    steps: int = 4
    clock: object = None
    takes: float = 0.0
    fails: object = None
    extra: dict = field(default_factory=lambda: {"representation": "ee_delta"})
    actions: object = None
    hangs: threading.Event = None
    shown: list = field(default_factory=list)
    closed: int = 0

    def connect(self, timeout_s):
        return PolicyInfo("steady", "1")

    def reset(self):
        pass

    def infer(self, observation, words, timeout_s):
        self.shown.append((observation, words, timeout_s))
        if self.clock is not None:
            self.clock.advance(self.takes)
        if self.hangs is not None:
            self.hangs.wait(PATIENCE_S)
            raise PolicyError("closed meanwhile", code="POLICY_CONNECTION")
        if self.fails is not None:
            raise self.fails
        if self.actions is not None:
            return ActionChunk(self.actions, extra=self.extra)
        rows = [[0.1, 0.01 * k, 0, 0, 0, 0, 1] for k in range(self.steps)]
        return ActionChunk(np.array(rows, np.float32), 2.0, self.extra)

    def close(self):
        self.closed += 1
        if self.hangs is not None:
            self.hangs.set()


class Scene:
    def __init__(self, policy=None, clock=None, deadline=1e9, **target):
        self.clock = clock or ManualClock()
        self.target = Line(self.clock, **target)
        self.taken = self.target.actions = _Both(self.target)
        self.policy = policy or Steady()
        self.run = Run(self.clock, self.clock.monotonic() + deadline)
        self.watched = []

    def perform(self, **request):
        skill = Skill(
            "reach", "VLAPolicyRuntime", policy=request.pop("spec", self.policy.spec if self.policy else None)
        )
        one = SkillRequest("job", skill, request.pop("params", {}), "go right", **{"max_steps": 50, **request})
        stage = SkillContext(self.target, self.policy, self.run, (lambda *seen: self.watched.append(seen),))
        return VLAPolicyRuntime().perform(one, stage)


class _Both(list):
    """The actions taken, and, called, the port's `actions()`."""

    def __init__(self, line):
        super().__init__()
        self.line = line

    def __call__(self):
        return self.line.actions_()


@pytest.mark.parametrize("beside", [{"dry_run": True}, {"hold": True}, {"max_speed": 0}, {"ｈｏｌｄ": "yes"}])
def test_actions_that_are_held_back_are_not_carried_out(beside):
    scene = Scene(Steady(extra={"representation": "ee_delta", **beside}), goal=1.0)
    assert scene.perform().code == "POLICY_PROTOCOL" and not scene.taken


def test_it_looks_asks_and_acts_until_the_target_says_success():
    scene = Scene(goal=1.0)
    done = scene.perform()
    assert done.ok, done
    assert len(scene.taken) == 10 == len(scene.watched) and done.evidence["steps"] == 10
    assert done.evidence["evidence_class"] == "sim" and done.evidence["policy"] == "steady"
    assert done.evidence["source"] == "robot"  # the policy asks for its joints alone
    assert done.evidence["clamped_steps"] == 10 and done.evidence["reward"] == 5.0
    assert scene.target.stopped >= 1 and scene.policy.shown[0][1] == "go right"
    observation, action, result = scene.watched[0]
    assert action[0] == pytest.approx(0.1) and result.observation is observation


@pytest.mark.parametrize(
    ("mode", "replan", "rows", "asked"),
    [
        ("chunk_buffer", 3, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0], 4),
        ("chunk_buffer", 99, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1], 3),
        ("open_loop", 3, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1], 3),
        ("single_step", 3, [0] * 10, 10),
    ],
)
def test_a_chunk_is_used_as_far_as_the_mode_says(mode, replan, rows, asked):
    scene = Scene(goal=1.0)
    done = scene.perform(chunk_mode=mode, replan_every=replan)
    assert [round(100 * action[1]) for action in scene.taken] == rows
    assert done.evidence["policy_calls"] == asked == len(scene.policy.shown)


def test_success_in_the_middle_of_a_chunk_ends_it_there():
    scene = Scene(goal=0.15)
    assert scene.perform(chunk_mode="open_loop").ok and len(scene.taken) == 2


def test_latencies_are_measured_by_the_clock():
    clock = ManualClock()
    scene = Scene(Steady(clock=clock, takes=0.125), clock, goal=1.0)
    evidence = scene.perform(chunk_mode="open_loop").evidence
    assert evidence["mean_policy_latency_ms"] == evidence["p99_policy_latency_ms"] == 125.0
    assert evidence["mean_server_ms"] == 2.0


def test_steps_run_out():
    scene = Scene()
    done = scene.perform(max_steps=7)
    assert (done.ok, done.cause, done.code) == (False, Cause.ERROR, "MAX_STEPS_EXCEEDED")
    assert len(scene.taken) == 7 and scene.target.stopped == 1


def test_an_episode_that_ends_unfinished_has_failed():
    done = Scene(ends=3).perform()
    assert done.code == "RUNTIME_ERROR" and "terminated" in done.message and done.evidence["steps"] == 3


@pytest.mark.parametrize(
    ("code", "cause"),
    [("POLICY_TIMEOUT", Cause.TIMEOUT), ("POLICY_CONNECTION", Cause.ERROR), ("POLICY_PROTOCOL", Cause.ERROR)],
)
def test_a_policy_that_fails_ends_it_with_its_code_and_the_target_stands(code, cause):
    scene = Scene()
    first = scene.policy

    def infer(observation, words, timeout_s):
        if len(scene.taken) >= 4:
            raise PolicyError("why", code=code)
        return Steady.infer(first, observation, words, timeout_s)

    first.infer = infer
    done = scene.perform()
    assert (done.code, done.cause) == (code, cause) and "why" in done.message
    assert scene.target.stopped == 1 and done.evidence["steps"] == 4


def test_the_deadline_stops_it():
    clock = ManualClock()
    scene = Scene(clock=clock, deadline=1.05, takes=0.1)
    done = scene.perform()
    assert (done.cause, done.code) == (Cause.TIMEOUT, "EXECUTION_TIMEOUT") and len(scene.taken) == 11
    assert scene.target.stopped == 1


def test_a_step_of_the_target_that_takes_too_long_is_a_timeout():
    clock = ManualClock()
    done = Scene(clock=clock, takes=3.0).perform(step_timeout_s=2.0)
    assert done.code == "SKILL_TIMEOUT" and "3 s" in done.message and "2 s" in done.message


def test_the_policy_is_given_the_steps_time_and_never_more_than_is_left():
    scene = Scene(deadline=5.0, goal=0.1)
    scene.perform(step_timeout_s=2.0)
    assert scene.policy.shown[0][2] == 2.0
    scene = Scene(deadline=1.5, goal=0.1)
    scene.perform(step_timeout_s=2.0)
    assert scene.policy.shown[0][2] == 1.5


def test_cancelled_while_an_answer_is_awaited_the_target_stands_at_once():
    scene = Scene(Steady(hangs=threading.Event()), SystemClock(), deadline=PATIENCE_S)
    asking = threading.Thread(target=lambda: until(lambda: scene.policy.shown) and scene.run.cancel.set())
    asking.start()
    done = scene.perform()
    asking.join()
    assert (done.cause, done.code) == (Cause.CANCELLED, "CANCELLED")
    assert scene.target.stopped >= 1 and scene.policy.closed == 1


def test_a_client_that_keeps_no_time_is_not_waited_for():
    scene = Scene(Steady(hangs=threading.Event()), SystemClock(), deadline=PATIENCE_S)
    done = scene.perform(step_timeout_s=0.1)
    assert (done.cause, done.code) == (Cause.TIMEOUT, "POLICY_TIMEOUT") and scene.policy.closed == 1


def test_a_target_that_breaks_is_left_standing():
    def broken():
        raise ConnectionError("the cable")

    scene = Scene(stuck=broken)
    with pytest.raises(ConnectionError):  # the driver of sessions names it
        scene.perform()
    assert scene.target.stopped == 1


def test_actions_without_a_bridge_are_refused_in_words():
    scene = Scene(Steady(actions=np.zeros((1, 9), np.float32), extra={}))
    done = scene.perform()
    assert done.code == "ACTION_CONTRACT_UNSATISFIED" and "ee_delta of 7" in done.message and scene.taken == []
    assert "policy_client.action" in done.message and done.evidence["policy_calls"] == 1


def test_the_skill_has_the_last_word_on_what_a_policy_gives():
    spec = replace(SPEC, extra={"action": {"representation": "ee_delta", "gripper": {"closed": 1, "open": -1}}})
    scene = Scene(Steady(spec, extra={"representation": "joint_position"}), goal=0.1)
    assert scene.perform().ok and scene.taken[0][6] == -1.0


def test_an_episode_begins_with_what_it_is_about():
    for seed, params, begun in (
        (None, {}, (None, None)),
        (7, {"object_id": "apple_01", "speed": 3}, (7, {"thing": "apple_01"})),
        (None, {"task": "place", "place": "basket_01"}, (None, {"task": "place", "place": "basket_01"})),
    ):
        scene = Scene(goal=0.1)
        scene.perform(seed=seed, params=params)
        assert scene.target.resets == [begun]


def test_a_real_robot_is_paced_and_a_simulation_is_not():
    for kind, real_time, paced in (("real_robot", False, True), ("sim", False, False), ("sim", True, True)):
        scene = Scene(kind=kind)
        scene.perform(max_steps=26, real_time=real_time, control_hz=100)
        took = scene.target.times[-1] - scene.target.times[0]
        assert took == pytest.approx(0.25 if paced else 0), kind


def test_review_names_what_does_not_fit():
    runtime, target = VLAPolicyRuntime(), Scene().target

    def review(policy, strict=True, **request):
        return runtime.review(
            SkillRequest("job", Skill("reach", "V", policy=policy, strict=strict), {}, **request), target
        )

    assert list(review(SPEC)) == []
    (found,) = review(None)
    assert found.code == "POLICY_ENDPOINT_UNREACHABLE" and not found.warning
    (found,) = review(replace(SPEC, extra={"observations": {"rgb.front": "image"}}), strict=False)
    assert found.code == "POLICY_INPUT_CONTRACT_UNSATISFIED" and found.found == "rgb.front" and found.warning
    (found,) = review(replace(SPEC, extra={"action": "joint_position"}))
    assert found.code == "ACTION_CONTRACT_UNSATISFIED" and "no conversion" in found.found
    (found,) = review(SPEC, chunk_mode="sideways")
    assert found.found == "sideways" and "chunk_buffer" in found.expected


def test_it_is_registered_under_the_specifications_name():
    assert SKILLS["VLAPolicyRuntime"] is VLAPolicyRuntime

"""A session is compared with the scene that its last episode began with: what a reset places was not moved."""

from dataclasses import replace

import numpy as np
import pytest

from worldfs.base.driver import PluginContext, Run
from worldfs.base.model import Cause, Outcome, Scene, Skill, Target, Thing
from worldfs.base.model.skill import PolicySpec
from worldfs.base.plugin_calls import checked
from worldfs.base.plugin_values import WrongValue
from worldfs.policies.policy_client import ActionChunk, PolicyInfo
from worldfs.robots.targets.target_adapter import StepResult, TargetAdapter
from worldfs.sessions.session_witness import SessionWitness
from worldfs.skills.skill_runtime import SkillContext, SkillRequest
from worldfs.skills.vla import VLAPolicyRuntime
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.null_target import NullAdapter

DONE = Outcome.success("done")
OURS, THEIRS = "ours", "theirs"


class Table(NullAdapter):
    """Each step moves one of two pucks by 0.25; at 0.5 it is done. `home`: where a reset puts them; None: nowhere."""

    def __init__(self, target, context, home=(0.0, 0.0)):
        super().__init__(target, context)
        self.home, self.at, self.moves = home, [0.0, 0.0], 0

    def reset(self, *, seed=None, options=None):
        if self.home is not None:
            self.at = list(self.home)
        return self.observe()

    def step(self, action, representation):
        self.at[self.moves] += 0.25
        return StepResult(self.observe(), success=max(self.at) >= 0.5)

    def scene(self):
        return Scene(objects=tuple(Thing(f"puck_{n}", position=(at, float(n), 0.0)) for n, at in enumerate(self.at)))


def table(home=(0.0, 0.0), at=(0.0, 0.0), moves=0):
    made = Table(Target("t", "sim"), PluginContext(ManualClock()), home)
    made.open()
    made.at, made.moves = list(at), moves
    return made


def session(made, named):
    run = Run(made.context.clock, made.context.clock.monotonic() + 100)
    return SessionWitness(SkillRequest("s", Skill("go", "Theirs"), {"object_id": named}), behind(made), object(), run)


def behind(made):
    return checked(made, TargetAdapter)


def steps(target, count=2):
    for _ in range(count):
        target.step(np.zeros(3), "joint_position")


def played(made, named, *doings):
    seen = session(made, named)
    for do in doings:
        do(seen.target)
    return seen.settled(DONE)


def reset(target):
    target.reset()


def by_policy(made, named):
    """The same by the runtime of a policy that is ours, on a target that is not, or is ours as well."""

    class Policy:
        def connect(self, timeout_s):
            return PolicyInfo("p", representation="joint_position", action_dim=3)

        def infer(self, observation, words, timeout_s):
            return ActionChunk(np.zeros((4, 3), np.float32))

        def close(self):
            return None

    run = Run(clock := ManualClock(), clock.monotonic() + 100)
    skill = Skill("go", "VLAPolicyRuntime", policy=PolicySpec("p", "p://x"))
    request = SkillRequest("s", skill, {"object_id": named}, max_steps=10)
    seen = SessionWitness(request, made, VLAPolicyRuntime(), run)
    return seen.settled(VLAPolicyRuntime().perform(request, SkillContext(seen.target, Policy(), run, (), seen.begin)))


BY = {
    "a skill": lambda made, named: played(made, named, reset, steps),
    "a policy": lambda made, named: by_policy(behind(made), named),
    "a policy on a target of ours": by_policy,
}


@pytest.fixture(params=BY)
def by(request):
    return BY[request.param]


class Short(Table):
    """Its steps give other joints than it declares."""

    def observe(self):
        return {**super().observe(), "joint_states": np.zeros(3)}


def test_numbers_of_another_shape_than_the_target_declares_are_an_error_of_its_own_session():
    def theirs(target):  # a skill that goes on all the same
        with pytest.raises(WrongValue) as raised:
            target.step(np.zeros(3), "joint_position")
        assert (raised.value.path, raised.value.found) == ("t step joint_states", "(3,)")

    made = Short(Target("t", "sim"), PluginContext(ManualClock()))
    made.open()
    found = played(made, None, theirs)
    assert (found.ok, found.code) == (False, "PLUGIN_VALUE") and "(2,)" in str(found.message)
    assert played(table(), "puck_0", steps).ok


def test_what_was_moved_in_the_episode_before_hides_nothing(by):
    made = table()
    for _ in range(3):
        assert by(made, "puck_1").code == "CONTRADICTED"
        assert by(made, "puck_0").ok


def test_what_a_reset_puts_elsewhere_was_not_moved_in_place_of_the_named_thing(by):
    made = table()
    for away in (0.1, 0.2, 0.3):
        made.home = (0.0, away)
        assert by(made, "puck_0").ok
        assert by(made, "puck_1").code == "CONTRADICTED"


def test_what_was_moved_before_a_reset_that_leaves_it_there_stays_moved():
    def turn(target):
        made.moves = 0

    made = table(home=None, moves=1)
    ended = played(made, "puck_0", steps, turn, reset, lambda target: steps(target, 1))
    assert ended.ok  # both were moved
    made = table(home=None, moves=1)
    assert played(made, "puck_0", steps, reset, lambda target: steps(target, 1)).code == "CONTRADICTED"


def test_an_earlier_episode_that_a_reset_undid_counts_for_nothing():
    made = table()

    def other(target):
        made.moves = 1
        steps(target)
        target.reset()
        made.moves = 0

    assert played(made, "puck_0", other, steps).ok
    made.moves = 0
    turned = played(made, "puck_0", steps, other, lambda target: setattr(made, "moves", 1), steps)
    assert turned.code == "CONTRADICTED"


def test_a_reset_after_the_last_step_voids_the_word_of_the_judge():
    ended = played(table(), "puck_0", reset, steps, reset)
    assert (ended.ok, ended.cause) == (False, Cause.UNMEASURED)
    assert played(table(), "puck_0", reset, steps, reset, steps).ok


def test_what_a_skill_makes_of_its_request_changes_nothing_of_what_was_named():
    params = {"object_id": ["puck_1"]}
    made = table()
    run = Run(made.context.clock, made.context.clock.monotonic() + 100)
    request = SkillRequest("s", Skill("go", "Theirs"), params)
    seen = SessionWitness(request, behind(made), object(), run)
    params["object_id"][:] = ["puck_0"]
    seen.target.reset()
    steps(seen.target)
    assert seen.settled(DONE).code == "CONTRADICTED"


def test_a_thing_that_a_reset_brings_or_takes_came_by_no_step():
    made = table()
    scenes = {"before": made.scene(), "after": made.scene()}
    extra = replace(made.scene().objects[0], id="puck_9")
    scenes["after"] = replace(scenes["after"], objects=(*scenes["after"].objects, extra))
    seen = session(made, "puck_0")
    made.scene = lambda: scenes["before"]
    old = made.reset
    made.reset = lambda **more: (setattr(made, "scene", lambda: scenes["after"]), old(**more))[1]
    seen.target.reset()
    made.step = lambda action, representation: StepResult(made.observe(), success=True)
    steps(seen.target)
    assert seen.settled(DONE).ok

"""A policy on a port moves the simulated arm: served by ours, asked over each of its wires, judged by the table."""

import pytest

from worldfs.drivers.policies.policy_server import PolicyServer
from worldfs.drivers.policies.served_policies import load_policy
from worldfs.drivers.runtime.plugins import load_plugins
from worldfs.drivers.skills.skill_runtime import SkillContext, SkillRequest
from worldfs.drivers.skills.vla import VLAPolicyRuntime
from worldfs.drivers.targets.tabletop_target import TabletopTarget
from worldfs.drivers.targets.target_adapter import TargetContext
from worldfs.ground.clock import SystemClock
from worldfs.ground.driver import Run
from worldfs.ground.model import PolicySpec, Skill, Target


@pytest.mark.parametrize(
    ("kind", "endpoint", "task", "words"),
    [
        ("http", "http://127.0.0.1:{}/predict", "pick", "pick it up"),
        ("openpi", "ws://127.0.0.1:{}", "place", "place it in the basket"),
    ],
)
def test_the_scripted_policy_does_what_the_words_say(kind, endpoint, task, words):
    clock = SystemClock()
    target = TabletopTarget(Target("table", "sim", config={"seed": 4242, "objects": 3}), TargetContext(clock))
    target.open()
    with PolicyServer(load_policy("scripted", lambda name: None)) as server:
        spec = PolicySpec(kind, endpoint.format(server.port))
        policy = load_plugins().client(kind)(spec)
        try:
            for attempt in range(2):  # a target that was stopped after the first serves the second
                request = SkillRequest("job", Skill("s", "VLAPolicyRuntime", policy=spec), {"task": task}, words)
                stage = SkillContext(target, policy, Run(clock, clock.monotonic() + 60))
                done = VLAPolicyRuntime().perform(request, stage)
                assert attempt or (done.ok and done.evidence["moved"][0]["moved_m"] > 0.1), done
                assert done.ok or done.evidence["steps"] > 1
        finally:
            policy.close()
            target.close()
    assert done.evidence["source"] == "truth"  # it is shown object_position
    assert done.evidence["evidence_class"] == "sim" and done.evidence["action"] == "ee_delta"

"""A policy on a port moves the simulated arm: served by ours, asked over each of its wires, judged by the table."""

import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.driver import PluginContext, Run
from worldfs.base.model import PolicySpec, Skill, Target
from worldfs.policies.policy_server import PolicyServer
from worldfs.policies.served_policies import load_policy
from worldfs.robots.targets.tabletop_target import TabletopTarget
from worldfs.sessions.plugins import POLICIES
from worldfs.skills.skill_runtime import SkillContext, SkillRequest
from worldfs.skills.vla import VLAPolicyRuntime


@pytest.mark.parametrize(
    ("kind", "endpoint", "task", "words"),
    [
        ("http", "http://127.0.0.1:{}/predict", "pick", "pick it up"),
        ("openpi", "ws://127.0.0.1:{}", "place", "place it in the basket"),
    ],
)
def test_the_scripted_policy_does_what_the_words_say(kind, endpoint, task, words):
    clock = SystemClock()
    target = TabletopTarget(Target("table", "sim", config={"seed": 4242, "objects": 3}), PluginContext(clock))
    target.open()
    with PolicyServer(load_policy("scripted", lambda name: None, SystemClock()), SystemClock()) as server:
        spec = PolicySpec(kind, endpoint.format(server.port))
        policy = POLICIES[kind](spec, SystemClock())
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

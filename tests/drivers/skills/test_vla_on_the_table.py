"""A policy on a port moves the simulated arm: served by ours, asked over each of its wires, judged by the table."""

import pytest

from worldfs.drivers.policies.served import policy_of
from worldfs.drivers.policies.serving import PolicyServer
from worldfs.drivers.runtime.parts import parts
from worldfs.drivers.skills.runtime import Errand, Stage
from worldfs.drivers.skills.vla import VLAPolicyRuntime
from worldfs.drivers.targets.adapter import Bench
from worldfs.drivers.targets.tabletop import TabletopTarget
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
    target = TabletopTarget(Target("table", "sim", config={"seed": 4242, "objects": 3}), Bench(clock))
    target.open()
    with PolicyServer(policy_of("scripted", lambda name: None)) as server:
        spec = PolicySpec(kind, endpoint.format(server.port))
        policy = parts().client(kind)(spec)
        try:
            for attempt in range(2):  # a target that was stopped after the first serves the second
                errand = Errand("job", Skill("s", "VLAPolicyRuntime", policy=spec), {"task": task}, words)
                stage = Stage(target, policy, Run(clock, clock.monotonic() + 60))
                done = VLAPolicyRuntime().perform(errand, stage)
                assert attempt or (done.ok and done.evidence["moved"][0]["moved_m"] > 0.1), done
                assert done.ok or done.evidence["steps"] > 1
        finally:
            policy.close()
            target.close()
    assert done.evidence["source"] == "truth"  # it is shown object_position
    assert done.evidence["evidence_class"] == "sim" and done.evidence["action"] == "ee_delta"

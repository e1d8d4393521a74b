"""The control loop of a policy: 50 Hz for twenty seconds, with a policy and a robot that do nothing."""

from __future__ import annotations

import subprocess
import sys
import time
from itertools import pairwise

from ._stand import percentile

FIGURES = ("loop.jitter_p99_ms",)
HZ, SECONDS = 50.0, 20.0
# The floor: a process that only sleeps until each beat, at the same time.
_BARE = f"""
import subprocess
import sys
import time
from itertools import pairwise
start, stamps = time.monotonic(), []
for k in range({int(HZ * SECONDS)}):
    time.sleep(max(0, start + k / {HZ} - time.monotonic()))
    stamps.append(time.monotonic())
late = sorted(abs(b - a - 1 / {HZ}) for a, b in pairwise(stamps))
print(1000 * late[int(0.99 * len(late))])
"""


def run() -> dict[str, float]:
    """Each step's distance from its beat, by the robot's own stamps."""
    import numpy as np

    from worldfs.drivers.policies.client import Chunk, PolicyInfo
    from worldfs.drivers.skills.runtime import Errand, Stage
    from worldfs.drivers.skills.vla import VLAPolicyRuntime
    from worldfs.drivers.targets.adapter import Bench, StepResult
    from worldfs.ground.clock import SystemClock
    from worldfs.ground.driver import Run
    from worldfs.ground.model import PolicySpec, Skill, Target
    from worldfs.testing.target import NullAdapter, NullPolicy

    clock, stamps = SystemClock(), []

    class Robot(NullAdapter):
        def step(self, action: object, representation: str) -> StepResult:
            stamps.append(time.monotonic())
            return StepResult(self.observe())

    class Policy(NullPolicy):
        def infer(self, observation: object, words: str, timeout_s: float) -> Chunk:
            return Chunk(np.zeros((16, 3), np.float32))

    spec = PolicySpec("http", "http://localhost/")
    robot = Robot(Target("null", "real_robot"), Bench(clock))
    errand = Errand(
        "job", Skill("nothing", "VLAPolicyRuntime", policy=spec), {}, max_steps=int(HZ * SECONDS), control_hz=HZ
    )
    policy = Policy(spec, info=PolicyInfo("null"))
    stage = Stage(robot, policy, Run(clock, clock.monotonic() + 3 * SECONDS))
    with subprocess.Popen([sys.executable, "-c", _BARE], stdout=subprocess.PIPE, text=True) as bare:
        outcome = VLAPolicyRuntime().perform(errand, stage)
        floor, _ = bare.communicate(timeout=60)
    assert outcome.code == "MAX_STEPS_EXCEEDED", outcome
    # Early or late by as much as the time between two steps is not 20 ms: what a robot feels of it.
    late = [1000 * abs(after - before - 1 / HZ) for before, after in pairwise(stamps)]
    return {
        "loop.jitter_p99_ms": max(percentile(late, 0.99), float(outcome.evidence["jitter_p99_ms"])),
        "loop.jitter_p50_ms": percentile(late, 0.5),
        "loop.bare_p99_ms": float(floor),
        "loop.missed_beats": float(outcome.evidence["missed_beats"]),
    }

"""The control loop of a policy: 50 Hz for twenty seconds, with a real inference on this CPU for every eight steps.

The robot does nothing. The policy is a network of random weights in an ONNX file, run by onnxruntime as any local
checkpoint is: three convolutions over a camera's picture. What matters here is what it costs beside the beat.
"""

from __future__ import annotations

import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from ._stand import percentile, scratch

FIGURES = ("loop.jitter_p99_ms",)
CHUNK, EACH = 16, 8  # actions of an answer, and how many of them are used
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


def network(path: Path) -> None:
    """A camera's picture of 128 × 128 to a chunk of actions."""
    import numpy as np

    from worldfs.policies.onnx_write import OnnxGraph, model

    random, graph = np.random.default_rng(0), OnnxGraph()

    def weights(*shape: int) -> str:
        return graph.constant((random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32))

    value = graph.op("Transpose", "rgb.front", perm=(0, 3, 1, 2))
    for taken, given in ((3, 96), (96, 192), (192, 128)):
        value = graph.op("Conv", value, weights(given, taken, 3, 3), strides=(2, 2), pads=(1, 1, 1, 1))
        value = graph.op("Relu", value)
    value = graph.op("MatMul", graph.op("Flatten", value, axis=1), weights(128 * 16 * 16, 3 * CHUNK))
    shape = graph.constant(np.array([CHUNK, 3], np.int64))
    graph.op("Tanh", graph.op("Reshape", value, shape), gives="actions")
    path.write_bytes(model(graph, {"rgb.front": (1, 128, 128, 3)}, {"actions": (CHUNK, 3)}, {}))


def run() -> dict[str, float]:
    """Each step's distance from its beat, by the robot's own stamps."""
    with scratch() as place:
        network(place / "policy.onnx")
        return beat(place / "policy.onnx")


def beat(checkpoint: Path) -> dict[str, float]:
    import numpy as np

    from worldfs.base.clock import SystemClock
    from worldfs.base.driver import PluginContext, Run
    from worldfs.base.model import PolicySpec, Skill, Target
    from worldfs.policies.onnx_file import OnnxPolicy
    from worldfs.robots.targets.target_adapter import StepResult
    from worldfs.skills.skill_runtime import SkillContext, SkillRequest
    from worldfs.skills.vla import VLAPolicyRuntime
    from worldfs.testing.null_target import NullAdapter

    clock, stamps = SystemClock(), []
    picture = np.random.default_rng(1).integers(0, 255, (128, 128, 3), np.uint8)

    class Robot(NullAdapter):
        def step(self, action: object, representation: str) -> StepResult:
            stamps.append(time.monotonic())
            return StepResult(self.observe())

        def observations(self) -> dict[str, tuple[tuple[int, ...], str]]:
            return {"rgb.front": ((128, 128, 3), "uint8")}

        def observe(self) -> dict[str, Any]:
            return {"rgb.front": picture}

    action = {"representation": "joint_position"}
    spec = PolicySpec("local", checkpoint=str(checkpoint), extra={"action": action})
    robot = Robot(Target("null", "real_robot"), PluginContext(clock))
    errand = SkillRequest(
        "job", Skill("network", "VLAPolicyRuntime", policy=spec), {}, max_steps=int(HZ * SECONDS), control_hz=HZ,
        replan_every=EACH,
    )  # fmt: skip
    policy = OnnxPolicy(spec, str(checkpoint), clock)
    stage = SkillContext(robot, policy, Run(clock, clock.monotonic() + 3 * SECONDS))
    with subprocess.Popen([sys.executable, "-c", _BARE], stdout=subprocess.PIPE, text=True) as bare:
        outcome = VLAPolicyRuntime().perform(errand, stage)
        floor, _ = bare.communicate(timeout=60)
    assert outcome.code == "MAX_STEPS_EXCEEDED", outcome
    told: Any = outcome.evidence
    # Early or late by as much as the time between two steps is not 20 ms: what a robot feels of it.
    late = [1000 * abs(after - before - 1 / HZ) for before, after in pairwise(stamps)]
    return {
        "loop.jitter_p99_ms": max(percentile(late, 0.99), float(told["jitter_p99_ms"])),
        "loop.jitter_p50_ms": percentile(late, 0.5),
        "loop.bare_p99_ms": float(floor),
        "loop.inference_mean_ms": float(told["mean_policy_latency_ms"]),
        "loop.missed_beats": float(told["missed_beats"]),
    }

"""A recording opened by LeRobot's own loader, and LeRobot's and torch's own checkpoints as local policies."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")

from worldfs.base.model import PolicySpec
from worldfs.plugins.recording.episode import RecordingRecipe
from worldfs.plugins.recording.lerobot_dataset import table_of
from worldfs.plugins.recording.recording import record
from worldfs.policies.local import client
from worldfs.robots.mujoco.gl import gl_status

pytestmark = pytest.mark.proof
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def lerobot(tmp_path_factory) -> str:
    """Its Python. 1.8 GB are installed once."""
    made = subprocess.run([ROOT / "scripts/lerobot"], capture_output=True, text=True, timeout=1800, check=False)
    if made.returncode:
        pytest.skip(f"lerobot's loader was not tried, it cannot be installed here: {made.stderr[-500:]}")
    python = tmp_path_factory.mktemp("bin") / "python"
    python.write_text(
        f'#!/bin/sh\nexec "{ROOT}/build/lerobot/bin/python" "{ROOT}/tests/proof/with_torchvision.py" "$@"\n'
    )
    python.chmod(0o755)
    return str(python)


def opened(python: str, dataset: Path, tmp_path: Path) -> dict:
    done = subprocess.run(
        [python, ROOT / "tests/proof/lerobot_process.py", str(dataset)], capture_output=True, text=True, timeout=600,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("cameras", [(), ("front", "wrist")], ids=["numbers", "films"])
def test_lerobot_reads_every_episode_of_a_recording_that_was_resumed(lerobot, tmp_path, cameras):
    if cameras and not gl_status().backend:
        pytest.skip("no OpenGL on this machine")
    recipe = RecordingRecipe(cameras=cameras)
    for episodes in (2, 6):
        tally = record(tmp_path / "set", recipe, episodes, threading.Event(), lambda tally: None)
    found = opened(lerobot, tmp_path / "set", tmp_path)
    assert (found["episodes"], found["frames"], found["fps"]) == (6, tally.frames, 20)
    assert found["all"] == sorted(found["all"]) and set(found["all"]) == set(range(6))
    assert found["last_index"] == tally.frames - 1 and found["done"]
    assert found["batch"] == [8, 3, 7] and len(found["action"]) == 3
    assert found["kinds"]["observation.environment_state"] == "FeatureType.ENV"
    rows = table_of((tmp_path / "set/data/chunk-000/file-000.parquet").read_bytes())
    state = np.array(rows.column("observation.state").to_pylist())
    assert np.allclose(found["state"], state[0]) and np.allclose(found["mean"], state.mean(0), atol=1e-6)
    for mean, shape in found["pictures"].values():
        assert shape == [3, 480, 640] and 0.05 < mean < 0.95
    assert len(found["pictures"]) == len(cameras)


ACT = """
import sys
from lerobot.configs.types import FeatureType, PolicyFeature
from lerobot.policies.act.configuration_act import ACTConfig
from lerobot.policies.act.modeling_act import ACTPolicy
wants = {"observation.state": PolicyFeature(FeatureType.STATE, (15,)),
         "observation.environment_state": PolicyFeature(FeatureType.ENV, (13,))}
config = ACTConfig(input_features=wants, output_features={"action": PolicyFeature(FeatureType.ACTION, (7,))},
                   chunk_size=6, n_action_steps=6, dim_model=32, n_heads=2, dim_feedforward=32, device="cpu",
                   pretrained_backbone_weights=None)
ACTPolicy(config).save_pretrained(sys.argv[1])
"""
SCRIPTED = """
import json, sys, torch
class Double(torch.nn.Module):
    def forward(self, pose: torch.Tensor, gripper: torch.Tensor):
        return torch.stack([2 * pose, torch.ones_like(pose) * gripper], dim=1)
said = {"name": "double", "observations": {"ee_pose": {"shape": [7]}, "gripper": {"shape": [1]}},
        "action": {"representation": "ee_delta", "dim": 7, "horizon": 2}}
torch.jit.save(torch.jit.script(Double()), sys.argv[1], _extra_files={"worldfs.policy": json.dumps(said)})
"""


def made(python: str, script: str, place: Path) -> Path:
    """What a script of the other environment writes."""
    file = place.with_suffix(".py")
    file.write_text(script)
    done = subprocess.run([python, file, place], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return place


def test_a_checkpoint_that_lerobot_saved_moves_the_table(lerobot, tmp_path):
    """An ACT of random weights: that it does well is not asked, but that it is asked and obeyed."""
    from worldfs.base.clock import SystemClock
    from worldfs.base.driver import PluginContext, Run
    from worldfs.base.model import Skill, Target
    from worldfs.robots.targets.sim_target import adapter
    from worldfs.skills.skill_runtime import SkillContext, SkillRequest
    from worldfs.skills.vla import VLAPolicyRuntime

    names = {
        "joint_states+gripper+ee_pose": "observation.state",
        "object_position+object_orientation+object_size+goal_position": "observation.environment_state",
    }
    spec = PolicySpec(
        "local", checkpoint=str(made(lerobot, ACT, tmp_path / "act")),
        extra={"python": lerobot, "observations": names, "action": {"representation": "ee_delta"}},
    )  # fmt: skip
    clock = SystemClock()
    policy = client(spec, clock)
    target = adapter(Target("sim", "sim", backend="mujoco", config={"seed": 3}), PluginContext(clock))
    target.open()
    try:
        info = policy.connect(3.0)
        assert (info.name, info.action_dim, info.horizon) == ("act", 7, 6)
        errand = SkillRequest("job", Skill("s", "VLAPolicyRuntime", policy=spec), {}, max_steps=30)
        outcome = VLAPolicyRuntime().perform(errand, SkillContext(target, policy, Run(clock, clock.monotonic() + 60)))
        assert outcome.ok or outcome.code == "MAX_STEPS_EXCEEDED", outcome
        assert outcome.evidence["steps"] == 30 and outcome.evidence["policy_calls"] == 5
    finally:
        target.close()
        policy.close()


def test_a_file_that_torch_scripted_answers(lerobot, tmp_path):
    from worldfs.base.clock import SystemClock

    policy = client(
        PolicySpec("local", checkpoint=str(made(lerobot, SCRIPTED, tmp_path / "m.pt")), extra={"python": lerobot}),
        SystemClock(),
    )
    try:
        assert policy.connect(3.0).representation == "ee_delta"
        pose = np.arange(7.0)
        shown = {"ee_pose": pose, "gripper": np.array([0.5])}
        assert np.allclose(policy.infer(shown, "", 20.0).actions, [2 * pose, np.full(7, 0.5)])
    finally:
        policy.close()

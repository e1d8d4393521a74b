"""examples/train_pixels.py with torch: the file answers as torch does; a training learns what it was shown."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")

from worldfs.base.clock import SystemClock
from worldfs.base.model import PolicySpec
from worldfs.plugins.recording.episode import RecordingRecipe
from worldfs.plugins.recording.recording import record
from worldfs.policies.local import client
from worldfs.robots.mujoco.gl import gl_status

pytestmark = pytest.mark.proof
ROOT = Path(__file__).resolve().parents[2]
SAME = """
import sys
from types import SimpleNamespace
sys.path.insert(0, "examples")
import numpy as np, torch, train_pixels as example
rng, cameras, size, out = np.random.default_rng(0), ("front", "wrist"), (64, 48), sys.argv[1]
weights = example.drawn(example.shapes(cameras, 3), 0)
for name in weights:
    if name.endswith((".b", ".gain", ".shift")):
        weights[name] = rng.normal(0, 0.3, weights[name].shape).astype(np.float32)
bounds = np.array([[-1e9] * example.CHUNK * 7, [1e9] * example.CHUNK * 7], np.float32)
shown = SimpleNamespace(pictures=dict.fromkeys(cameras), vocabulary=["a", "b c", "d"], size=size, wanted=bounds, fps=20)
own = rng.normal(size=8).astype(np.float32)
normal = own * 0.5, np.full(8, 0.7, np.float32)
open(out + ".onnx", "wb").write(example.exported(weights, shown, normal, {"name": "same"}))
pictures = {camera: rng.integers(0, 255, (48, 64, 3)).astype(np.uint8) for camera in cameras}
def taken(picture):
    tensor = torch.from_numpy(picture).permute(2, 0, 1)[None].float()
    return torch.nn.functional.avg_pool2d(tensor, example.POOL) / 255 - 0.5
tensors = {name: torch.from_numpy(values) for name, values in weights.items()}
made, _, _ = example.forward(tensors, {camera: taken(p) for camera, p in pictures.items()}, torch.from_numpy(own)[None],
                          torch.eye(3)[1:2], tuple(torch.from_numpy(values) for values in normal))
np.savez(out + ".npz", own=own, made=made.numpy().reshape(-1, 7) * example.SCALE, **pictures)
"""


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    done = subprocess.run([ROOT / "scripts/torch"], capture_output=True, text=True, timeout=1800, check=False)
    if done.returncode:
        pytest.skip(f"torch cannot be installed here: {done.stderr[-300:]}")
    return {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'build/torch'}", "OMP_NUM_THREADS": "1"}


def test_the_file_answers_as_torch_does(environment, tmp_path):
    subprocess.run([sys.executable, "-c", SAME, tmp_path / "same"], cwd=ROOT, env=environment, check=True)
    policy = client(PolicySpec("local", checkpoint=str(tmp_path / "same.onnx")), SystemClock())
    with np.load(tmp_path / "same.npz") as kept:
        seen = {f"rgb.{camera}": kept[camera] for camera in ("front", "wrist")}
        seen |= {"ee_pose": kept["own"][:7], "gripper": kept["own"][7:]}
        assert np.allclose(policy.infer(seen, "b c", 5.0).actions, kept["made"], atol=1e-4)
        assert not np.allclose(policy.infer(seen, "d", 5.0).actions, kept["made"], atol=1e-3), "the words count"


def test_a_training_learns_what_it_was_shown_and_its_file_runs(environment, tmp_path):
    if not gl_status().backend:
        pytest.skip("no OpenGL on this machine")
    recipe = RecordingRecipe(("pick",), objects=1, noise=0.0, cameras=("front", "wrist"), picture_size=(64, 48))
    record(tmp_path / "set", recipe, 2, threading.Event(), lambda tally: None)
    done = subprocess.run(
        [sys.executable, ROOT / "examples/train_pixels.py", tmp_path / "set", "--out", tmp_path / "p.onnx", "--epochs",
         "150"], env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    losses = [[float(line.split()[at]) for at in (3, 5)] for line in done.stdout.splitlines() if "CPU-s" in line]
    assert len(losses) == 150 and losses[-1][0] < losses[0][0] / 2 and losses[-1][1] < losses[0][1] / 2
    policy = client(PolicySpec("local", checkpoint=str(tmp_path / "p.onnx")), SystemClock())
    info = policy.connect(1.0)
    assert info.picture_sizes == {"rgb.front": (48, 64), "rgb.wrist": (48, 64)}
    assert (info.representation, info.action_dim, info.horizon) == ("ee_delta", 7, 4)

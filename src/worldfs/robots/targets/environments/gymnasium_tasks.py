"""Foreign registered Gymnasium environment, in a process of its own: one world, arrays and no batches.

`config`: env_id (`module:Name-v0` imports the module first), kwargs, representation.
"""

from __future__ import annotations

import numpy as np
from foreign_values import Array, Foreign, Reply, Settings, flat, truth


class GymnasiumTasks:
    def __init__(self, config: Settings) -> None:
        import gymnasium

        self._env: Foreign = gymnasium.make(str(config["env_id"]), **(config.get("kwargs") or {}))
        space = self._env.action_space
        if not hasattr(space, "low"):
            raise TypeError(f"its actions are {type(space).__name__}; a Box is expected")
        self.about: dict[str, object] = {
            "name": str(config["env_id"]),
            "actions": [action_spec(config, space, float(self._env.metadata.get("render_fps") or 20))],
        }

    def reset(self, seed: int | None, options: Settings) -> Reply:
        observation, _ = self._env.reset(seed=seed, options=options or None)
        return {}, flat(observation)

    def step(self, action: Array, representation: str) -> Reply:
        space = self._env.action_space
        inside = np.clip(np.asarray(action, space.dtype), space.low, space.high)
        observation, reward, terminated, truncated, info = self._env.step(inside)
        success = info.get("is_success", info.get("success"))
        facts: dict[str, object] = {
            "reward": float(reward), "terminated": truth(terminated, "terminated"),
            "truncated": truth(truncated, "truncated"),
            "success": None if success is None else truth(success, "success"),
            "clamped": [] if np.array_equal(inside, action) else ["action space"],
        }  # fmt: skip
        return facts, flat(observation)

    def close(self) -> None:
        self._env.close()


def action_spec(config: Settings, space: Foreign, hz: float) -> dict[str, object]:
    return {
        "representation": str(config.get("representation") or "raw"), "shape": list(space.shape), "hz": hz,
        "low": np.asarray(space.low, float).tolist(), "high": np.asarray(space.high, float).tolist(),
    }  # fmt: skip

"""A task of ManiSkill 3, in a process of its own: batches of tensors, one world of them.

`config`: env_id (PickCube-v1), kwargs of `gymnasium.make` (obs_mode, control_mode, sim_backend …), representation.
Untried on ManiSkill itself, which needs a Vulkan device: tested against a stand-in of its interface.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from batched_tensors import batch, first, one_world, single_bounds, truth_of_one
from foreign_values import Array, Foreign, Reply, Settings


class ManiSkillTasks:
    def __init__(self, config: Settings) -> None:
        import gymnasium
        import mani_skill.envs  # noqa: F401  # registers its environments

        kwargs = one_world(config)
        kwargs.setdefault("obs_mode", "state_dict")
        self._env: Foreign = gymnasium.make(str(config["env_id"]), **kwargs)
        shape, self._low, self._high = single_bounds(self._env)
        hz = float(getattr(self._env.unwrapped, "control_freq", 0) or 20)
        self.about: dict[str, object] = {
            "name": str(config["env_id"]),
            "words": str(config.get("words") or ""),
            "actions": [
                {
                    "representation": str(config.get("representation") or "raw"),
                    "shape": shape, "low": self._low, "high": self._high, "hz": hz,
                }
            ],
        }  # fmt: skip

    def reset(self, seed: int | None, options: Settings) -> Reply:
        observation, _ = self._env.reset(seed=seed, options=options)
        return {}, flat(observation)

    def step(self, action: Array, representation: str) -> Reply:
        given, clamped = batch(action, self._low, self._high, self._env.unwrapped.device)
        observation, reward, terminated, truncated, info = self._env.step(given)
        success = info.get("success")
        facts: dict[str, object] = {
            "reward": float(first(reward, "reward")),
            "terminated": truth_of_one(terminated, "terminated"),
            # its time limit wraps single environments with a plain bool, and batches with a tensor
            "truncated": truth_of_one(truncated, "truncated"),
            "success": None if success is None else truth_of_one(success, "success"),
            "clamped": ["action space"] if clamped else [],
        }
        return facts, flat(observation)

    def close(self) -> None:
        self._env.close()


def flat(observation: Foreign, prefix: str = "") -> dict[str, Array]:
    """By dotted names; pictures of `sensor_data` under the port's: rgb.CAMERA uint8, depth.CAMERA metres."""
    if not isinstance(observation, Mapping):
        return {prefix or "state": first(observation, prefix or "state")}
    found: dict[str, Array] = {}
    for name, value in observation.items():
        found |= flat(value, f"{prefix}.{name}" if prefix else str(name))
    if prefix:
        return found
    return {new: value for old, given in found.items() for new, value in [_named(old, given)]}


def _named(name: str, value: Array) -> tuple[str, Array]:
    parts = name.split(".")
    if parts[0] == "sensor_data" and len(parts) == 3 and parts[2] in ("rgb", "depth"):
        if parts[2] == "depth":  # int16 millimetres (H, W, 1)
            metres = value[..., 0].astype(np.float32)
            return f"depth.{parts[1]}", metres / 1000 if value.dtype.kind == "i" else metres
        return f"rgb.{parts[1]}", value.astype(np.uint8)
    return {"agent.qpos": "joint_states", "agent.qvel": "joint_velocities", "extra.tcp_pose": "ee_pose"}.get(
        name, name
    ), value

"""A task of Isaac Lab on Isaac Sim, in a process of its own: the app launcher first, then batches of tensors.

`config`: env_id (Isaac-Lift-Cube-Franka-IK-Rel-v0), device (cuda:0), launcher (its settings: enable_cameras …),
representation, kwargs. Untried on Isaac Sim itself, which needs an RTX GPU: tested against a stand-in of its interface.

An environment of Isaac Lab resets inside the step that ends an episode: what it then shows is the next episode's.
So the last observation before the end is given, and nothing moves until a reset.
"""

from __future__ import annotations

from collections.abc import Mapping

from batched_tensors import array, batch, first, one_world, single_bounds, truth_of_one
from foreign_values import Array, Foreign, Reply, Settings

SUCCESS = "Episode_Termination/success"  # in `extras["log"]`, written when an episode has ended


class IsaacLabTasks:
    def __init__(self, config: Settings) -> None:
        from isaaclab.app import AppLauncher

        device = str(config.get("device") or "cuda:0")
        # nothing of Isaac or Omniverse can be imported before the app runs
        self._app: Foreign = AppLauncher({"headless": True, "device": device, **(config.get("launcher") or {})}).app
        import gymnasium
        import isaaclab_tasks  # noqa: F401  # registers its environments
        from isaaclab_tasks.utils import parse_env_cfg

        kwargs = one_world(config)
        name, count = str(config["env_id"]), kwargs.pop("num_envs")
        settings = parse_env_cfg(name, device=device, num_envs=count)
        self._env: Foreign = gymnasium.make(name, cfg=settings, **kwargs)
        shape, self._low, self._high = single_bounds(self._env)
        step_s = float(getattr(self._env.unwrapped, "step_dt", 0.05))
        self._last: dict[str, Array] = {}
        self._over = True
        self.about: dict[str, object] = {
            "name": name,
            "words": str(config.get("words") or ""),
            "actions": [
                {
                    "representation": str(config.get("representation") or "raw"),
                    "shape": shape, "low": self._low, "high": self._high, "hz": 1 / step_s,
                }
            ],
        }  # fmt: skip

    def reset(self, seed: int | None, options: Settings) -> Reply:
        observation, _ = self._env.reset(seed=seed, options=options)
        self._last, self._over = flat(observation), False
        return {}, self._last

    def step(self, action: Array, representation: str) -> Reply:
        if self._over:
            raise RuntimeError("the episode is over; reset it")
        given, clamped = batch(action, self._low, self._high, self._env.unwrapped.device)
        observation, reward, terminated, truncated, extras = self._env.step(given)
        ended, late = truth_of_one(terminated, "terminated"), truth_of_one(truncated, "truncated")
        self._over = ended or late
        if not self._over:
            self._last = flat(observation)
        facts: dict[str, object] = {
            "reward": float(first(reward, "reward")), "terminated": ended, "truncated": late,
            "success": _success(extras) if self._over else None,
            "clamped": ["action space"] if clamped else [],
        }  # fmt: skip
        return facts, self._last

    def close(self) -> None:
        self._env.close()
        self._app.close()


def _success(extras: Mapping[str, Foreign]) -> bool | None:
    """Of the episode that has just ended: whether its term `success` ended it. None where the task has no such term.

    Read only then: the log keeps the last episode's numbers until the next one ends.
    """
    log = extras.get("log") or {}
    return bool(array(log[SUCCESS]).sum() > 0) if SUCCESS in log else None


def flat(observation: Foreign, prefix: str = "") -> dict[str, Array]:
    """By dotted names, without the batch; the group `policy` that is one tensor is called `state`."""
    if not isinstance(observation, Mapping):
        return {"state" if prefix in ("", "policy") else prefix: first(observation, prefix or "state")}
    found: dict[str, Array] = {}
    for name, value in observation.items():
        found |= flat(value, f"{prefix}.{name}" if prefix else str(name))
    return found

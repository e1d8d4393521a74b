"""Any registered Gymnasium environment as a target: one world, arrays and no batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from worldfs.base.driver import PluginContext
from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.extras import needs
from worldfs.base.messages import coded
from worldfs.base.model import Json, RobotState, Scene, Target
from worldfs.robots.targets.environments.foreign_values import flat
from worldfs.robots.targets.target_adapter import ActionSpec, Array, Observation, StepResult

RAW = "raw"  # the environment's own actions, whatever they mean


class GymTarget:
    """`target.config`: env_id, kwargs (for `gymnasium.make`), representation (what its actions are; else `raw`)."""

    def __init__(self, target: Target, context: PluginContext) -> None:
        self.target, self.context = target, context
        self._id = str(target.config.get("env_id") or "")
        self._env: Any = None
        self._seen: Observation = {}

    def open(self) -> None:
        """Raises `MissingRequirement` without the package or its device, `BadInput` for an unregistered id."""
        at = f"TARGETS.md {self.target.id}"
        with needs("sim", op="open a target", path=f"{at} backend"):
            import gymnasium
        kwargs, seed = self.target.config.get("kwargs"), self.target.config.get("seed")
        if not self._id or not (kwargs is None or isinstance(kwargs, dict)):
            raise BadInput(
                coded("target.no_env_id") if not self._id else coded("target.bad_kwargs"),
                path=f"{at} config",
                expected=coded("target.env_config"),
            )
        try:
            self._env = gymnasium.make(self._id, **(kwargs or {}))
            self.reset(seed=seed if isinstance(seed, int) else None)
        except gymnasium.error.Error as error:
            raise BadInput(str(error), path=f"{at} config.env_id", expected=coded("target.environment")) from error
        except Exception as error:  # a simulator's own library: whatever it raises, the target is not available
            self.close()
            raise MissingRequirement(
                coded("session.no_start", name=self._id, kind=type(error).__name__, why=str(error)),
                path=f"{at} backend",
                fix=coded("target.see_package"),
            ) from error

    def sensors(self) -> frozenset[str]:
        return sensors_shown(self._seen)

    def actions(self) -> Sequence[ActionSpec]:
        space = self._env.action_space
        name = str(self.target.config.get("representation") or RAW)
        hz = float(self._env.metadata.get("render_fps") or 20)
        if not hasattr(space, "low"):
            return [ActionSpec(name, (1,), np.zeros(1), np.full(1, float(getattr(space, "n", 1)) - 1), hz)]
        return [ActionSpec(name, tuple(space.shape), space.low, space.high, hz)]

    def observations(self) -> Mapping[str, tuple[tuple[int, ...], str]]:
        return {name: (tuple(value.shape), str(value.dtype)) for name, value in self._seen.items()}

    def reset(self, *, seed: int | None = None, options: Json | None = None) -> Observation:
        observation, _ = self._env.reset(seed=seed, options=options)
        self._seen = flat(observation)
        return self._seen

    def step(self, action: Array, representation: str) -> StepResult:
        space = self._env.action_space
        given: Any = np.asarray(action, dtype=getattr(space, "dtype", None) or np.float32)
        clamped: tuple[str, ...] = ()
        if hasattr(space, "low"):
            if given.shape != space.shape:
                raise BadInput(
                    coded("target.action_shape", shape=str(given.shape)), path=self._id, expected=f"{space.shape}"
                )
            inside = np.clip(given, space.low, space.high)
            clamped, given = (() if np.array_equal(inside, given) else ("action space",)), inside
        else:
            given = space.dtype.type(np.clip(round(float(given.ravel()[0])), 0, space.n - 1))
        observation, reward, terminated, truncated, info = self._env.step(given)
        self._seen = flat(observation)
        success = info.get("is_success", info.get("success"))
        return StepResult(
            self._seen, float(reward), bool(terminated), bool(truncated),
            None if success is None else bool(np.asarray(success).any()), clamped, dict(info),
        )  # fmt: skip

    def observe(self) -> Observation:
        return self._seen

    def scene(self) -> Scene:
        """The scene of an unknown environment has only the robot."""
        return Scene((RobotState(self.target.id, extra={"environment": self._id}),))

    def stop(self) -> None:
        return

    def close(self) -> None:
        env, self._env = self._env, None
        if env is not None:
            env.close()


def sensors_shown(seen: Observation) -> frozenset[str]:
    """By shape: a picture of uint8 is a camera, floats with two sides a depth; else joint states."""
    found = {"joint_states"}
    for name, value in seen.items():
        if value.dtype == np.uint8 and value.ndim >= 3:
            found.add("rgb_camera")
        elif "depth" in name or (value.ndim == 2 and min(value.shape) > 16):
            found.add("depth_camera")
    return frozenset(found)

"""Any registered Gymnasium environment as a target: one world, arrays and no batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from worldfs.base.driver import PluginContext
from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.extras import needs
from worldfs.base.messages import coded
from worldfs.base.model import Json, RobotState, Scene, Target
from worldfs.base.plugin_calls import called
from worldfs.base.plugin_faults import error_text
from worldfs.base.plugin_values import WrongValue, found_text, is_true, parse, parsed
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
            self._env = called(lambda: gymnasium.make(self._id, **(kwargs or {})), self._id)
            self.reset(seed=seed if isinstance(seed, int) else None)
        except gymnasium.error.Error as error:
            raise BadInput(str(error), path=f"{at} config.env_id", expected=coded("target.environment")) from error
        except Exception as error:  # a simulator's own library: whatever it raises, the target is not available
            self.close()
            raise MissingRequirement(
                coded("session.no_start", name=self._id, kind=type(error).__name__, why=error_text(error)),
                path=f"{at} backend",
                fix=coded("target.see_package"),
            ) from error

    def sensors(self) -> frozenset[str]:
        return sensors_shown(self._seen)

    def actions(self) -> Sequence[ActionSpec]:
        where = f"{self._id} action_space"
        specs: Sequence[ActionSpec] = parse(Sequence[ActionSpec], called(self._actions, where), where)  # type: ignore[assignment]  # that is what it parses
        return specs

    def _actions(self) -> Sequence[ActionSpec]:
        space = self._env.action_space
        name = str(self.target.config.get("representation") or RAW)
        hz = float(self._env.metadata.get("render_fps") or 20)
        if not hasattr(space, "low"):
            return [ActionSpec(name, (1,), np.zeros(1), np.full(1, float(getattr(space, "n", 1)) - 1), hz)]
        return [ActionSpec(name, tuple(space.shape), space.low, space.high, hz)]

    def observations(self) -> Mapping[str, tuple[tuple[int, ...], str]]:
        return {name: (tuple(value.shape), str(value.dtype)) for name, value in self._seen.items()}

    def reset(self, *, seed: int | None = None, options: Json | None = None) -> Observation:
        where = f"{self._id} reset"
        observation, _ = _tuple_of(2, called(lambda: self._env.reset(seed=seed, options=options), where), where)
        self._seen = _shown(observation, where)
        return self._seen

    def step(self, action: Array, representation: str) -> StepResult:
        where = f"{self._id} step"
        given, clamped = called(lambda: self._clipped(action), where)
        answer = _tuple_of(5, called(lambda: self._env.step(given), where), where)
        observation, reward, terminated, truncated, info = answer
        if type(info) is not dict:
            raise WrongValue(found_text(info), path=f"{where} info", expected=coded("plugin.a_mapping"))
        name = "is_success" if "is_success" in info else "success"
        self._seen = _shown(observation, where)
        return StepResult(
            self._seen,
            parsed(float, reward, f"{where} reward"),
            is_true(terminated, f"{where} terminated"),
            is_true(truncated, f"{where} truncated"),
            None if info.get(name) is None else is_true(info[name], f"{where} info.{name}"),
            clamped,
        )

    def _clipped(self, action: Array) -> tuple[object, tuple[str, ...]]:
        """The action as the environment takes it, and what was clamped."""
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
        return given, clamped

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
            called(env.close, f"{self._id} close")


def _tuple_of(size: int, answer: object, where: str) -> tuple[object, ...]:
    if type(answer) is tuple and len(answer) == size:
        return answer
    raise WrongValue(found_text(answer), path=where, expected=coded("plugin.tuple_of", n=size))


def _shown(observation: object, where: str) -> Observation:
    """The numbers of an observation by dotted names; its texts are left out."""
    arrays = called(lambda: flat(observation), where)
    kept = {name: value for name, value in arrays.items() if value.dtype.kind not in "US"}
    return cast("Observation", parse(Observation, kept, f"{where} observation"))


def sensors_shown(seen: Observation) -> frozenset[str]:
    """By shape: a picture of uint8 is a camera, floats with two sides a depth; else joint states."""
    found = {"joint_states"}
    for name, value in seen.items():
        if value.dtype == np.uint8 and value.ndim >= 3:
            found.add("rgb_camera")
        elif "depth" in name or (value.ndim == 2 and min(value.shape) > 16):
            found.add("depth_camera")
    return frozenset(found)

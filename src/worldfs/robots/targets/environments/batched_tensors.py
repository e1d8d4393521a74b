"""The one world of an environment that steps batches of tensors: arrays without the batch, and what a step says of it.

ManiSkill and Isaac Lab give every value for each of `num_envs` worlds, on the device that the physics runs on, and take
actions likewise. A session moves one world, so `num_envs` is 1 here; more are refused.
"""

from __future__ import annotations

import numpy as np
from foreign_values import Array, Foreign, Settings, truth


def one_world(config: Settings) -> Settings:
    """The environment's own settings. Raises `ValueError` where they ask for several worlds."""
    kwargs = dict(config.get("kwargs") or {})
    if kwargs.setdefault("num_envs", 1) != 1:
        raise ValueError(f"num_envs {kwargs['num_envs']}; a session moves one world: write num_envs: 1")
    return kwargs


def array(value: Foreign) -> Array:
    """A tensor of any device, or whatever numpy reads."""
    found: Array = np.asarray(value.detach().cpu().numpy() if hasattr(value, "detach") else value)
    return found


def first(value: Foreign, name: str) -> Array:
    """Without the batch. Raises `ValueError` for what has none, or another one: no number of another world is taken."""
    found = array(value)
    if found.ndim == 0 or found.shape[0] != 1:
        raise ValueError(f"{name} of shape {list(found.shape)}; a batch of 1 is expected")
    only: Array = found[0]
    return only


def truth_of_one(value: Foreign, name: str) -> bool:
    """Of a batch of one world, or without a batch. Raises `TypeError` for numbers, `ValueError` for several worlds."""
    found = array(value)
    said: bool = truth((found if found.ndim == 0 else first(found, name)).reshape(())[()], name)
    return said


def single_bounds(env: Foreign) -> tuple[list[int], list[float], list[float]]:
    """Shape, low and high of one world's action. Unlimited components are given as ±1: what the environments scale."""
    base = env.unwrapped
    space = getattr(base, "single_action_space", None) or env.action_space
    shape = list(space.shape)
    if space is env.action_space and len(shape) == 2 and shape[0] == 1:
        shape = shape[1:]
    low, high = (
        np.broadcast_to(np.asarray(side, float).reshape(-1)[-shape[0] :], shape) for side in (space.low, space.high)
    )
    finite = np.isfinite(low) & np.isfinite(high)
    return shape, np.where(finite, low, -1.0).tolist(), np.where(finite, high, 1.0).tolist()


def batch(action: Array, low: list[float], high: list[float], device: Foreign) -> tuple[Foreign, bool]:
    """The action as a tensor of shape (1, n) on the environment's device, and whether its bounds changed it."""
    import torch

    inside = np.clip(np.asarray(action, np.float32), np.asarray(low, np.float32), np.asarray(high, np.float32))
    clamped = not np.array_equal(inside, np.asarray(action, np.float32))
    return torch.as_tensor(inside[None], dtype=torch.float32, device=device), clamped

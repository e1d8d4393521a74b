"""The policies of a policy server: the port, and built-in policies that need no training.

An observation is what the caller shows: any of `ee_pose` (7) or `ee_position` (3), `gripper` (1), `joint_states`,
`goal` (3 or more numbers, metres) or `goal_joints`, `object.NAME` or `object_position`, and `goal_position`: where that
is to be put. Nothing is kept between two questions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Final, Protocol

import numpy as np

from worldfs import __version__
from worldfs.base.clock import Clock
from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import PolicySpec

from .policy_client import ActionChunk, Array, ClientFactory, PolicyClient, PolicyInfo

STEP_M = 0.02  # the most that one action of a built-in policy moves the tool
STEP_RAD = 0.05  # … or a joint
CHUNK = 8
NEAR_M = 0.012  # close enough beside an object to go down to it
ABOVE_M = 0.10
HELD_M = 0.004  # a gripper closed to less holds nothing
OPEN_M = 0.075  # wider than this it holds nothing either: it is open


class ServedPolicy(Protocol):
    """Called from one thread at a time. `infer` may raise anything: the caller gets the reason."""

    def info(self) -> PolicyInfo: ...

    def infer(self, observation: Mapping[str, Array], words: str) -> ActionChunk: ...


class ScriptedPolicy:
    """A rule as a policy. It declares neither its observations nor its actions: each answer names the latter."""

    def __init__(self, name: str, rule: Callable[[Mapping[str, Array], str], tuple[str, Array]]) -> None:
        self._name, self._rule = name, rule

    def info(self) -> PolicyInfo:
        return PolicyInfo(self._name, __version__)

    def infer(self, observation: Mapping[str, Array], words: str) -> ActionChunk:
        representation, actions = self._rule(observation, words)
        return ActionChunk(actions.astype(np.float32), extra={"representation": representation})


class RelayPolicy:
    """A client of any wire as a policy that is served: a file by `local`, another server by its own protocol."""

    def __init__(self, client: PolicyClient, timeout_s: float = 60.0) -> None:
        self._client, self._timeout_s = client, timeout_s

    def info(self) -> PolicyInfo:
        return self._client.connect(self._timeout_s)

    def infer(self, observation: Mapping[str, Array], words: str) -> ActionChunk:
        return self._client.infer(observation, words, self._timeout_s)


def hold(observation: Mapping[str, Array], words: str) -> tuple[str, Array]:
    """Stay as you are, gripper too."""
    joints, hand = observation.get("joint_states"), _hand(observation)
    if hand is None and joints is not None:
        opening = float(observation["gripper"].ravel()[0]) / 0.08 if "gripper" in observation else 1.0
        return "joint_position", np.append(joints.ravel(), np.clip(opening, 0, 1))[None]
    return "ee_delta", np.append(np.zeros(6), _grip_as_is(observation))[None]


def reach(observation: Mapping[str, Array], words: str) -> tuple[str, Array]:
    """Go straight to `goal` (or the object that the words name) with the tool, or to `goal_joints`."""
    joints, wanted = observation.get("joint_states"), observation.get("goal_joints")
    if joints is not None and wanted is not None:
        return "joint_position", _joint_path(joints.ravel(), wanted.ravel(), _opening(observation))
    hand, goal = _hand(observation), _numbers(observation, "goal")
    if goal is None:
        goal = _thing(observation, words)
    if hand is None or goal is None:
        return hold(observation, words)
    return "ee_delta", _path(goal - hand, _grip_as_is(observation))


def tabletop(observation: Mapping[str, Array], words: str) -> tuple[str, Array]:
    """Pick the object that the words name, and put it at `goal_position` if they do, by tool and object poses."""
    hand, thing = _hand(observation), _thing(observation, words)
    if hand is None or thing is None:
        return reach(observation, words)
    way = thing - hand
    aside, width = float(np.linalg.norm(way[:2])), _width(observation)
    at_it = aside < NEAR_M and abs(way[2]) < NEAR_M
    goal = _numbers(observation, "goal_position") if _PUTS.search(words.casefold()) else None
    if at_it and width is not None and HELD_M < width < OPEN_M:
        return "ee_delta", _carried(thing, goal)
    if goal is not None and np.linalg.norm(thing - goal) < 2 * NEAR_M:  # it is there: leave it
        return "ee_delta", _path(np.array((0.0, 0.0, ABOVE_M)), 1.0)
    if at_it:
        return "ee_delta", _path(np.zeros(3), -1.0 if width is None or width >= OPEN_M else 1.0)
    if aside >= NEAR_M and -way[2] < ABOVE_M / 2:  # beside it and low: first up
        return "ee_delta", _path(np.array((0.0, 0.0, way[2] + ABOVE_M)), 1.0)
    return "ee_delta", _path(np.array((*way[:2], 0.0)) if aside >= NEAR_M else way, 1.0)


def _carried(thing: Array, goal: Array | None) -> Array:
    """Up; over the goal; down; and let go."""
    if goal is None:
        return _path(np.array((0.0, 0.0, ABOVE_M)), -1.0, still=2)
    way = goal - thing
    if np.linalg.norm(way[:2]) < NEAR_M:
        return _path(np.zeros(3), 1.0) if abs(way[2]) < NEAR_M else _path(way, -1.0)
    if -way[2] < ABOVE_M / 2:
        return _path(np.array((0.0, 0.0, way[2] + ABOVE_M)), -1.0, still=2)
    return _path(np.array((*way[:2], 0.0)), -1.0)


_PUTS: Final = re.compile(r"\b(place|put|stack|drop)|放")
_RULES: Final = {"hold": hold, "reach": reach, "scripted": tabletop}
NAMES: Final = tuple(_RULES)
_FILE: Final = re.compile(r"\.(onnx|pt|pth|ts|torchscript)$|[/\\]")


def load_policy(name: str, client: Callable[[str], ClientFactory | None], clock: Clock) -> ServedPolicy:
    """A built-in name, or a file or directory, which `local` reads (`client`: type → factory).

    Raises `BadInput` for a name that is neither.
    """

    if name in _RULES:
        return ScriptedPolicy(name, _RULES[name])
    path = os.path.abspath(os.path.expanduser(name))
    if os.path.exists(path):
        factory = client("local")
        if factory is not None:
            return RelayPolicy(factory(PolicySpec("local", checkpoint=path), clock))
    raise BadInput(
        coded("session.no_policy_file" if _FILE.search(name) else "session.no_policy_named", name=name),
        expected=coded("session.or_a_file", names=[*NAMES]), fix=coded("session.serve_example"),
        code="USAGE",
    )  # fmt: skip


def _hand(observation: Mapping[str, Array]) -> Array | None:
    position = _numbers(observation, "ee_position")
    return position if position is not None else _numbers(observation, "ee_pose")


def _numbers(observation: Mapping[str, Array], name: str) -> Array | None:
    """The first three numbers of an observation: a place, in metres."""
    value = observation.get(name)
    return value.ravel()[:3].astype(float) if value is not None and value.size >= 3 else None


def _thing(observation: Mapping[str, Array], words: str) -> Array | None:
    """The `object.NAME` that the words name, else the only one, else `object_position`."""
    text = words.casefold()
    names = {name.partition(".")[2]: name for name in observation if name.startswith("object.")}
    named = [full for name, full in names.items() if name.casefold() in text or _stem(name) in text]
    chosen = named or (list(names.values()) if len(names) == 1 else ["object_position"])
    return _numbers(observation, chosen[0])


def _stem(name: str) -> str:
    return name.casefold().rstrip("_0123456789") or name


def _path(way: Array, grip: float, still: int = 0) -> Array:
    """`CHUNK` steps, the first `still` of them none, then of at most STEP_M along `way`, then none."""
    length = float(np.linalg.norm(way))
    ends = np.clip(np.arange(1 - still, CHUNK + 1 - still) * STEP_M, 0.0, length)
    steps = np.diff(ends, prepend=0.0)[:, None] * (way / length if length > 0 else way)[None]
    return np.hstack([steps, np.zeros((CHUNK, 3)), np.full((CHUNK, 1), grip)])


def _joint_path(joints: Array, goal: Array, grip: float) -> Array:
    if goal.shape != joints.shape:
        raise BadInput(
            coded("session.n_of", name="goal_joints", n=goal.size), expected=coded("session.as_joints", n=joints.size)
        )
    steps = joints + np.clip(
        goal - joints, -STEP_RAD * np.arange(1, CHUNK + 1)[:, None], STEP_RAD * np.arange(1, CHUNK + 1)[:, None]
    )
    return np.hstack([steps, np.full((CHUNK, 1), grip)])


def _width(observation: Mapping[str, Array]) -> float | None:
    value = observation.get("gripper")
    return float(value.ravel()[0]) if value is not None and value.size else None


def _opening(observation: Mapping[str, Array]) -> float:
    width = _width(observation)
    return 1.0 if width is None else float(np.clip(width / 0.08, 0, 1))


def _grip_as_is(observation: Mapping[str, Array]) -> float:
    return 2 * _opening(observation) - 1

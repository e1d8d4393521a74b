"""The library: programs for pick, place, stack and pour, written in the published form from a session's parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from worldfs.base.model import Json, Thing
from worldfs.robots.rotations import Array

from . import placement_space
from .constraint_program import ConstraintProgram, of_files
from .keypoints import Keypoint, half_height, keypoint_named
from .task_params import HANDLED, TaskParams, missing_param, point_of, support_of, target_of, thing_of

LIFT = 0.12  # m
CLOSE_TO = 0.005  # m about a goal
GAP = 0.0035  # m above a surface where a thing is let go of
TILT = math.radians(105)  # from upright, of what is poured
DWELL = 1.0  # s that it stays tilted


@dataclass(frozen=True, slots=True)
class ProgramGoal:
    """A program's goal: the task, the object, its final position (`place`: an id; `at`: its centre, m)."""

    task: str  # pick | place | stack | pour | ""
    thing: str = ""
    place: str = ""
    at: tuple[float, ...] = ()
    start: tuple[float, ...] = ()  # m: where the thing's centre was
    turn: tuple[float, ...] = ()  # its orientation then, w x y z: which of its sides was up
    on: str = ""  # the support that must carry it, where `at` is the position


@dataclass(frozen=True, slots=True)
class LibraryProgram:
    program: ConstraintProgram
    points: tuple[Keypoint, ...]
    goal: ProgramGoal
    slack: float = 0.0  # m: costs up to it count as satisfied


def write_program(task: str, setting: TaskParams) -> LibraryProgram:
    """A program for a task. Raises `BadInput` naming the parameter that is missing or means nothing here."""
    return TASKS[task](setting)


def task_of(skill: str) -> str:
    """The task in a skill's id: rekep_pick is pick; "" for none."""
    words = skill.lower().replace("-", "_").split("_")
    return next((task for word in words for task, names in _WORDS.items() if word in names), "")


_WORDS: Final = {
    "pick": ("pick", "grasp", "lift", "take"),
    "place": ("place", "put"),
    "stack": ("stack",),
    "pour": ("pour",),
}


NAMES: Final = frozenset(word for words in _WORDS.values() for word in words)


def _pick(task_params: TaskParams) -> LibraryProgram:
    thing = thing_of(task_params, lifts=True)
    x, y, z = (float(v) for v in thing.position)
    builder = _ProgramBuilder(task_params, (keypoint_named(f"{thing.id}.centre", task_params.things, task_params.job),))
    builder.grasp(thing)
    builder.stage(
        subgoals=(
            (f"{thing.id} is lifted by {LIFT} m", f"{z + LIFT:.4f} - keypoints[0][2]"),
            (
                "and stays above where it stood",
                f"np.hypot(keypoints[0][0] - {x:.4f}, keypoints[0][1] - {y:.4f}) - 0.05",
            ),
        ),
        paths=(_HELD,),
    )
    return builder.done(ProgramGoal("pick", thing.id, start=(x, y, z)))


def _place(task_params: TaskParams) -> LibraryProgram:
    thing = thing_of(task_params)
    place = target_of(task_params, thing)
    at = point_of(task_params)
    support = task_params.things.get(place)
    if at is None and support is None:
        raise missing_param(task_params, "target_id or target_position", "where to put it")
    if at is not None:
        support, height = support_of(task_params, thing, at)
        if support is None or support.shape != "basket":
            on = support.id if support is not None else ""
            place = on if support is not None and support.shape in HANDLED else ""
            return _put(task_params, thing, np.array([at[0], at[1], height]), place=place, task="place", on=on)
        return _into(task_params, thing, support, at)
    assert support is not None
    if support.shape == "basket" or support.is_container:
        return _into(task_params, thing, support, None)
    if support.shape in HANDLED and support.category != "furniture" and len(support.size) == 3:
        return _stack(task_params)
    spot = next(placement_space.free_positions(thing, support, task_params.things.values(), task_params.base))
    top, on = placement_space.top_of(support), support.id
    if support.shape == "region":
        under = [
            one
            for one in placement_space.surfaces_below(task_params.things, spot[0], spot[1], thing.id)
            if one[0] <= top + 0.05
        ]
        top, on = under[0] if under else (top, on)
    goal = np.array([spot[0], spot[1], placement_space.height_on(thing, top)])
    return _put(task_params, thing, goal, place="", task="place", on=on)


def _stack(task_params: TaskParams) -> LibraryProgram:
    thing = thing_of(task_params)
    place = target_of(task_params, thing)
    base = task_params.things.get(place)
    if base is None:
        raise missing_param(task_params, "target_id", "what to put it on")
    top = keypoint_named(
        f"{base.id}.{'top' if base.shape != 'basket' else 'floor'}", task_params.things, task_params.job
    )
    goal = np.array(
        [base.position[0], base.position[1], placement_space.height_on(thing, placement_space.top_of(base))]
    )
    return _put(task_params, thing, goal, place=place, task="stack", on=place, anchor=top)


def _put(
    task_params: TaskParams,
    thing: Thing,
    goal: Array,
    *,
    place: str,
    task: str,
    on: str,
    anchor: Keypoint | None = None,
) -> LibraryProgram:
    """Stages: take it, carry it to where its centre is just above `goal`, let go. `anchor`: goal that may move."""
    points = _thing_points(task_params, thing)
    height = half_height(thing)
    if anchor is None:
        points = (*points, Keypoint("", "goal", (float(goal[0]), float(goal[1]), float(goal[2] - height))))
    else:
        points = (*points, anchor)
    builder = _ProgramBuilder(task_params, points)
    builder.grasp(thing)
    over = f"keypoints[0][2] - keypoints[3][2] - {height + GAP:.4f}"
    builder.stage(
        subgoals=(
            (
                f"{thing.id} is over its goal",
                f"np.hypot(keypoints[0][0] - keypoints[3][0], keypoints[0][1] - keypoints[3][1]) - {CLOSE_TO}",
            ),
            ("and just above it", f"np.abs({over}) - 0.002"),
            *_upright(thing, 0.996),
        ),
        paths=(_HELD,),
        release=0,
    )
    at = (float(goal[0]), float(goal[1]), float(goal[2]))
    return builder.done(ProgramGoal(task, thing.id, place, at, tuple(thing.position), tuple(thing.orientation), on))


def _into(task_params: TaskParams, thing: Thing, basket: Thing, at: Array | None) -> LibraryProgram:
    """Within the opening wherever there is room; let go low."""
    opening, floor = (
        keypoint_named(f"{basket.id}.{label}", task_params.things, task_params.job) for label in ("opening", "floor")
    )
    builder = _ProgramBuilder(task_params, (*_thing_points(task_params, thing), opening, floor))
    builder.grasp(thing)
    reach = placement_space.basket_inset(thing, basket)
    height = half_height(thing)
    low, high = placement_space.basket_interior(basket)
    depth = float(high[2] - low[2])
    subgoals = [
        (f"{thing.id} is within the opening, along x", f"np.abs(keypoints[0][0] - keypoints[3][0]) - {reach[0]:.4f}"),
        ("along y", f"np.abs(keypoints[0][1] - keypoints[3][1]) - {reach[1]:.4f}"),
        ("above the floor", f"keypoints[4][2] + {height + 0.006:.4f} - keypoints[0][2]"),
        ("not above the rim", f"keypoints[0][2] - keypoints[4][2] - {height + max(depth, 0.03):.4f}"),
        *_upright(thing, 0.98),
    ]
    if at is not None:
        near = np.clip(at[:2] - np.array(basket.position[:2]), -reach, reach)
        spot = np.array(basket.position[:2]) + near
        where = f"np.hypot(keypoints[0][0] - {spot[0]:.4f}, keypoints[0][1] - {spot[1]:.4f}) - 0.03"
        subgoals.append(("near the place named", where))
    builder.stage(subgoals=tuple(subgoals), paths=(_HELD,), release=0)
    return builder.done(ProgramGoal("place", thing.id, basket.id, (), tuple(thing.position), on=basket.id))


def _pour(task_params: TaskParams) -> LibraryProgram:
    thing = thing_of(task_params)
    place = target_of(task_params, thing)
    target = task_params.things.get(place)
    if target is None:
        raise missing_param(task_params, "target_id", "what to pour into")
    opening = keypoint_named(
        f"{target.id}.{'opening' if target.is_container else 'top'}", task_params.things, task_params.job
    )
    builder = _ProgramBuilder(task_params, (*_thing_points(task_params, thing), opening))
    builder.grasp(thing, "side")
    radius = max(0.02, float(np.min(placement_space.extents(target)[:2])) - 0.01)
    away = "np.hypot(keypoints[1][0] - keypoints[3][0], keypoints[1][1] - keypoints[3][1])"
    length = 2 * half_height(thing)
    lean = f"(keypoints[1][2] - keypoints[2][2]) / {length:.4f}"
    over = "keypoints[1][2] - keypoints[3][2]"
    builder.stage(
        subgoals=(
            ("the spout is over the opening", f"{away} - {radius:.4f}"),
            ("well above it", f"{length + 0.03:.4f} - ({over})"),
            ("and not far above", f"{over} - {length + 0.16:.4f}"),
            ("upright", f"0.97 - {lean}"),
        ),
        paths=(_HELD, ("nothing is spilt on the way", f"0.85 - {lean}")),
    )
    tipped = math.cos(TILT)
    builder.stage(
        subgoals=(
            (f"tilted by {math.degrees(TILT):.0f} degrees", f"{lean} - ({tipped:.4f})"),
            ("the spout is over the opening", f"{away} - {radius:.4f}"),
            ("above its rim", f"0.01 - ({over})"),
            ("and near it", f"{over} - 0.20"),
        ),
        paths=(
            _HELD,
            (
                "where it is tilted, the spout is over the opening",
                f"np.minimum(0.6 - {lean}, {away} - {radius + 0.02:.4f})",
            ),
        ),
        dwell=DWELL,
    )
    builder.stage(
        subgoals=(
            ("upright again", f"0.97 - {lean}"),
            ("clear of the rim", "0.03 - (keypoints[2][2] - keypoints[3][2])"),
        ),
        paths=(
            _HELD,
            (
                "where it is tilted, the spout is over the opening",
                f"np.minimum(0.6 - {lean}, {away} - {radius + 0.02:.4f})",
            ),
        ),
    )
    return builder.done(ProgramGoal("pour", thing.id, place, (), tuple(thing.position), tuple(thing.orientation)))


TASKS: Final[Mapping[str, Callable[[TaskParams], LibraryProgram]]] = {
    "pick": _pick, "place": _place, "stack": _stack, "pour": _pour,
}  # fmt: skip
LabelledExpression = tuple[str, str]  # what it means, the expression
_HELD: LabelledExpression = ("it is held all the way", "get_grasping_cost_by_keypoint_idx(0)")


class _ProgramBuilder:
    """Writes stages as text, since text is what is stored, displayed and parsed by the same reader as any program."""

    def __init__(self, task_params: TaskParams, points: Sequence[Keypoint]) -> None:
        self._given, self._points = task_params, tuple(points)
        self._files: dict[str, str] = {}
        self._grasps: list[int] = []
        self._releases: list[int] = []
        self._approach: list[str] = []
        self._dwell: list[float] = []

    def grasp(self, thing: Thing, approach: str = "") -> None:
        """The first stage; an end effector that already holds the object passes it."""
        around = float(np.max(placement_space.extents(thing))) + 0.01
        text = f"np.linalg.norm(end_effector - keypoints[0]) - {around:.4f}"
        self.stage(subgoals=((f"the fingers are about {thing.id}", text),), paths=(), grasp=0, approach=approach)

    def stage(
        self, *, subgoals: Sequence[LabelledExpression], paths: Sequence[LabelledExpression],
        grasp: int = -1, release: int = -1,
        approach: str = "", dwell: float = 0.0,
    ) -> None:  # fmt: skip
        number = len(self._grasps) + 1
        for kind, expressions in (("subgoal", subgoals), ("path", paths)):
            texts = [
                f"def stage{number}_{kind}_constraint{i}(end_effector, keypoints):\n"
                f'    """{meaning}"""\n    return {expression}\n'
                for i, (meaning, expression) in enumerate(expressions, 1)
            ]
            self._files[f"stage{number}_{kind}_constraints.txt"] = "\n\n".join(texts)
        self._grasps.append(grasp)
        self._releases.append(release)
        self._approach.append(approach)
        self._dwell.append(dwell)

    def done(self, goal: ProgramGoal) -> LibraryProgram:
        metadata: Json = {
            "num_stages": len(self._grasps), "grasp_keypoints": self._grasps, "release_keypoints": self._releases,
            "approach": self._approach, "dwell": self._dwell,
            "keypoints": [point.name if point.owner else list(point.local) for point in self._points],
        }  # fmt: skip
        return LibraryProgram(of_files(self._files, metadata, f"library {goal.task}"), self._points, goal)


def _thing_points(task_params: TaskParams, thing: Thing) -> tuple[Keypoint, ...]:
    """0 centre, 1 top, 2 bottom."""
    return tuple(
        keypoint_named(f"{thing.id}.{label}", task_params.things, task_params.job)
        for label in ("centre", "top", "bottom")
    )


def _upright(thing: Thing, cosine: float) -> tuple[LabelledExpression, ...]:
    if thing.shape == "sphere":
        return ()
    length = 2 * half_height(thing)
    return ((f"{thing.id} is upright", f"{cosine} - (keypoints[1][2] - keypoints[2][2]) / {length:.4f}"),)

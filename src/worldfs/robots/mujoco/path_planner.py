"""The way between two arm poses: straight in joint space, by way of a lifted pose, or found by RRT-Connect."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import TypeVar

import numpy as np

from .array_types import Array
from .collision import MARGIN, OFF_PATH, Allowed, CollisionChecker, persisting
from .ik import HIGH, HOME, LOW, IKSolver

REACH = 0.35  # rad, growth of the tree
TRIES = 900
HEIGHTS = (0.1, 0.2, 0.3, 0.4)  # m
RISE = 0.05  # m between two poses of a way straight up
SEARCHES = 3  # how many goals of one plan are worth a search, each up to a second

Goal = TypeVar("Goal")


def plan_path(
    checker: CollisionChecker,
    start: Array,
    goal: Array,
    *,
    via: tuple[Array, ...] = (),
    over: IKSolver | None = None,
    search: bool = True,
) -> list[Array] | None:
    """Joint poses from `start` to `goal`, both included, straight segments free of collision; None: none found.

    The way keeps `MARGIN` from loose things, or as much as there is at its start or its goal. Contacts at the start may
    persist (the gripper is in a basket, say), and become no deeper. Without `search` only the
    straight way and the ways via known poses are tried: a caller with many goals tries these first. `over`: kinematics,
    for a way that rises straight up, passes over what stands beside it, and comes straight down.
    """
    allowed = persisting(checker.hits(start, margin=MARGIN))
    if checker.hits(goal, allowed=allowed, margin=OFF_PATH):
        return None
    for met, depth in checker.hits(goal, margin=MARGIN).items():
        allowed[met] = max(allowed.get(met, depth), depth)  # the way comes as near as its goal is, and no nearer
    for path in ([start, goal], *([start, middle, goal] for middle in (*via, HOME))):
        if not checker.along(path, allowed=allowed, margin=MARGIN):
            return path
    if not search:
        return None
    if over is not None and (found := _over(checker, over, start, goal, allowed)) is not None:
        return found
    return _connect(checker, start, goal, allowed)


def first_way(
    goals: Iterable[tuple[Goal, CollisionChecker, Array]],
    start: Array,
    *,
    via: tuple[Array, ...] = (),
    over: IKSolver | None = None,
) -> tuple[Goal, list[Array]] | None:
    """The first goal with a plain way, and that way; else the first that a search reaches. None: no goal has a way.

    `goals`: the caller's own value, a checker and a joint pose each. A goal is computed only if none before it has a
    plain way.
    """
    cut_off: list[tuple[Goal, CollisionChecker, Array]] = []
    for goal, checker, pose in goals:
        way = plan_path(checker, start, pose, via=via, search=False)
        if way is not None:
            return goal, way
        cut_off.append((goal, checker, pose))
    for goal, checker, pose in cut_off[:SEARCHES]:
        way = plan_path(checker, start, pose, over=over)
        if way is not None:
            return goal, way
    return None


def _over(
    checker: CollisionChecker, solver: IKSolver, start: Array, goal: Array, allowed: Allowed
) -> list[Array] | None:
    """Ways that rise above the start, or come down on the goal, or both, by one of `HEIGHTS`."""
    risen, lowered = (_risen(checker, solver, pose, allowed) for pose in (start, goal))
    for up, down in sorted(product(risen, lowered), key=lambda both: len(both[0]) + len(both[1])):
        if (len(up) > 1 or len(down) > 1) and not checker.along([up[-1], down[-1]], allowed=allowed, margin=MARGIN):
            return [*up, *down[::-1]]
    return None


def _risen(checker: CollisionChecker, solver: IKSolver, pose: Array, allowed: Allowed) -> list[list[Array]]:
    """The pose alone, and straight ways up from it that are free."""
    position, rotation = solver.pose(pose)
    found, path = [[pose]], [pose]
    for height in HEIGHTS:
        n = round((height - (len(path) - 1) * RISE) / RISE)
        points = position + np.outer(np.arange(len(path), len(path) + n) * RISE, (0.0, 0.0, 1.0))
        line = solver.line(path[-1], points, rotation)
        if isinstance(line, int) or checker.along([path[-1], *line], allowed=allowed, margin=MARGIN):
            break
        path = [*path, *line]
        found.append(path)
    return found


def _connect(checker: CollisionChecker, start: Array, goal: Array, allowed: Allowed) -> list[Array] | None:
    """RRT-Connect (Kuffner and LaValle, 2000) with a fixed seed: the same query has the same result."""
    rng = np.random.default_rng(11)
    trees: list[tuple[list[Array], list[int]]] = [([start], [-1]), ([goal], [-1])]
    low, high = (
        np.minimum(np.minimum(start, goal) - 0.9, HOME - 0.5),
        np.maximum(np.maximum(start, goal) + 0.9, HOME + 0.5),
    )
    low, high = np.maximum(low, LOW), np.minimum(high, HIGH)
    for i in range(TRIES):
        one, other = trees[i % 2], trees[1 - i % 2]
        sample = rng.uniform(low, high)
        tip = _extend(checker, one, sample, allowed)
        if tip is None:
            continue
        target = one[0][tip]
        last = None
        while True:
            grown = _extend(checker, other, target, allowed)
            if grown is None:
                break
            last = grown
            if float(np.max(np.abs(other[0][grown] - target))) < 1e-6:
                break
        if last is not None and float(np.max(np.abs(other[0][last] - target))) < 1e-6:
            first, second = _trace(one, tip), _trace(other, last)
            path = [*reversed(first), *second[1:]] if i % 2 == 0 else [*reversed(second), *first[1:]]
            return _shorten(checker, path, allowed, rng)
    return None


def _extend(
    checker: CollisionChecker, tree: tuple[list[Array], list[int]], target: Array, allowed: Allowed
) -> int | None:
    nodes, parents = tree
    distances = np.max(np.abs(np.array(nodes) - target), axis=1)
    nearest = int(np.argmin(distances))
    gap = float(distances[nearest])
    if gap < 1e-9:
        return nearest
    new = nodes[nearest] + (target - nodes[nearest]) * min(1.0, REACH / gap)
    if checker.along([nodes[nearest], new], allowed=allowed, margin=MARGIN):
        return None
    nodes.append(new)
    parents.append(nearest)
    return len(nodes) - 1


def _trace(tree: tuple[list[Array], list[int]], tip: int) -> list[Array]:
    path = []
    while tip >= 0:
        path.append(tree[0][tip])
        tip = tree[1][tip]
    return path


def _shorten(checker: CollisionChecker, path: list[Array], allowed: Allowed, rng: np.random.Generator) -> list[Array]:
    for _ in range(40):
        if len(path) < 3:
            break
        i, j = sorted(rng.choice(len(path), 2, replace=False))
        if j - i > 1 and not checker.along([path[i], path[j]], allowed=allowed, margin=MARGIN):
            path = path[: i + 1] + path[j:]
    return path

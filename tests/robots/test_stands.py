"""A world is built as its document has it: what things carry among themselves needs no stand, no stand is in another
thing, and what comes to rest elsewhere is told."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import combinations

import mujoco
import pytest

from worldfs.base.model import Scene, Thing
from worldfs.robots.displacements import SHIFTED, TURNED, built_elsewhere, displacements, object_poses
from worldfs.robots.mujoco.action_evidence import object_poses as poses_now
from worldfs.robots.mujoco.stands import GRAZE

from .conftest import BASKET, TABLE
from .lies import tipped

WATCHED = 2.0  # s
APART = 0.45  # m


def box(id: str, x: float, y: float, z: float, size: tuple[float, float, float], **more: object) -> Thing:
    """`z`: of its underside."""
    return Thing(id, shape="box", size=size, mass=0.1, position=(x, y, z + size[2] / 2), **more)


def post(id: str, x: float, y: float, high: float, wide: float = 0.05) -> Thing:
    return box(id, x, y, 0.0, (wide, wide, high))


def bridge(r: random.Random) -> list[Thing]:
    """A bar across two or three supports."""
    high, half = r.uniform(0.04, 0.12), r.uniform(0.06, 0.11)
    ends = [-half, half] + [0.0] * r.randint(0, 1)
    bar = box("bar", 0.45, 0.05, high, (r.uniform(0.04, 0.06), 2 * half + r.uniform(0.02, 0.06), 0.02))
    return [*(post(f"post_{n}", 0.45, 0.05 + y, high) for n, y in enumerate(ends)), bar]


def tower(r: random.Random) -> list[Thing]:
    """Boxes on one another, each with its middle well over the one below."""
    levels, at, found = r.randint(2, 4), 0.0, []
    for n in range(levels):
        high = r.uniform(0.03, 0.06)
        found.append(box(f"box_{n}", 0.5 + r.uniform(-0.005, 0.005), 0.1, at, (0.06, 0.06, high)))
        at += high
    return found


def roof(r: random.Random) -> list[Thing]:
    """A plate on three or four posts."""
    high, spread = r.uniform(0.05, 0.1), r.uniform(0.05, 0.07)
    corners = [(-1, -1), (1, -1), (-1, 1), (1, 1)][: r.randint(3, 4)]
    posts = [post(f"post_{n}", 0.45 + u * spread, 0.05 + v * spread, high, 0.04) for n, (u, v) in enumerate(corners)]
    plate = box("plate", 0.44, 0.04, high, (2 * spread + 0.04, 2 * spread + 0.04, 0.02))
    return [*posts, plate]


def lean(r: random.Random) -> list[Thing]:
    """A board from the table to the edge of a post."""
    high, thick, length = r.uniform(0.04, 0.08), 0.02, 0.3
    tilt = math.asin(high / r.uniform(0.19, 0.27))  # the edge is between its middle and its end
    away = high / math.tan(tilt)  # from where its underside meets the table to the edge
    along = length / 2 - 0.002
    x = 0.3 + along * math.cos(tilt) - thick / 2 * math.sin(tilt)
    z = along * math.sin(tilt) + thick / 2 * math.cos(tilt)
    board = Thing("board", shape="box", size=(length, 0.06, thick), mass=0.2, position=(x, 0.1, z))
    board = replace(board, orientation=tipped(-tilt, 1))
    return [post("post", 0.3 + away + 0.025, 0.1, high), board]


def gaps(r: random.Random) -> list[Thing]:
    """A bar above its supports, up to far above."""
    return [replace(one, position=(*one.position[:2], one.position[2] + r.uniform(0.0, 0.09) * (one.id == "bar")))
            for one in bridge(r)]  # fmt: skip


def edges(r: random.Random) -> list[Thing]:
    """A box whose middle is near the edge of the one below, on it or beyond."""
    beyond = r.choice((-1, 1)) * r.uniform(0.003, 0.02)
    return [post("post", 0.5, 0.1, 0.06), box("top", 0.5 + 0.025 + beyond, 0.1, 0.06, (0.06, 0.05, 0.03))]


def inside(r: random.Random) -> list[Thing]:
    """Things in each other, as a careless hand writes them."""
    return [replace(one, position=(*one.position[:2], one.position[2] - r.uniform(0.0, 0.04) * (one.id == "plate")))
            for one in roof(r)]  # fmt: skip


STABLE = (bridge, tower, roof, lean)
CAREFUL = 5  # scenes of each kind


CASES = [(kind, n) for kind in (*STABLE, gaps, edges, inside) for n in range(CAREFUL)]


def later(hand) -> dict:
    """The poses after two seconds of plain physics; the world itself stays as it is."""
    rig = hand.rig
    kept = rig.simulation.data.qpos.copy(), rig.simulation.data.qvel.copy()
    for _ in range(round(WATCHED / rig.simulation.model.opt.timestep)):
        mujoco.mj_step(rig.simulation.model, rig.simulation.data)
    found = poses_now(rig)
    rig.simulation.data.qpos[:], rig.simulation.data.qvel[:] = kept
    return found


def sunk(hand) -> list[tuple[str, str, float]]:
    """Pairs of a stand and another thing that are in each other, by the geometry of the world that was built."""
    rig, found = hand.rig, []
    model, data = rig.simulation.model, rig.simulation.data
    solid = [
        g for g in range(model.ngeom) if model.geom_contype[g] and model.geom_type[g] != mujoco.mjtGeom.mjGEOM_PLANE
    ]
    for one, other in combinations(solid, 2):
        ids = {rig.geom_owner[one], rig.geom_owner[other]}
        if len(ids) == 2 and any(id.startswith("stand_") for id in ids):
            depth = -mujoco.mj_geomDistance(model, data, one, other, GRAZE, None)
            found += [(*sorted(ids), depth)] if depth > 2 * GRAZE else []
    return found


@pytest.mark.slice(5)
@pytest.mark.parametrize(("kind", "n"), CASES, ids=lambda one: getattr(one, "__name__", str(one)))
def test_nothing_moves_but_what_is_told(opened, kind, n):
    things = kind(random.Random(f"{kind.__name__} {n}"))
    told = Scene((), tuple(things), (TABLE, BASKET))
    hand = opened(scene=told)
    stands = [piece.id for piece in hand.body.observe().furniture if piece.category == "stand"]
    said = {line["id"] for line in built_elsewhere(told, hand.body.observe())}
    assert sunk(hand) == []
    moved = displacements(object_poses(things), later(hand))
    unsaid = [line for line in moved if line["id"] not in said]
    assert [one for one in unsaid if one["moved_m"] > SHIFTED + 0.001 or one["turned_rad"] > TURNED + 0.02] == []
    if kind in STABLE:
        assert (stands, said) == ([], set())

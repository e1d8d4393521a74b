"""Drawers and chests that a hand reaches into: where there is room in an open one, and why nothing goes in or out."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator

import numpy as np

from worldfs.base.measured_facts import fact, facts
from worldfs.base.messages import coded
from worldfs.base.model import Finding, Thing
from worldfs.robots import rotations

from . import fixture_model, panda
from .arm import Arm
from .array_types import Array
from .fixture_model import OPEN

ROOM = 0.006  # m to the walls
LOW = 0.004  # m that a thing stays below the rim, so that it closes
DROP = 0.006  # m above the bottom when the fingers open
PALM = 0.010  # m that the palm stays above the rim
BESIDE = 0.05  # m from what lies there already that is wide enough
Spot = tuple[Array, float]  # its centre at rest, and how far above that it is let go (m)


def refusal(arm: Arm, held: str, piece: Thing, half: float, job: str = "") -> Finding | None:
    """Why nothing can be put there now; `half`: of the held thing's height (m). None: it can."""
    if not arm.rig.knows_opening(piece.id):
        return Finding(
            "NOT_SEEN", "ENVIRONMENT.md perception", coded("vision.opening_in_view", id=piece.id),
            coded("vision.opening_unseen", id=piece.id), coded("vision.clear_opening", id=piece.id), job,
        )  # fmt: skip
    opening = arm.rig.opening(piece.id)
    if fixture_model.state(piece, opening) != OPEN:
        found = coded("fixture.shut", id=piece.id)
        return _not_open(arm, piece, "ACTION.md params.target", found, job)
    low, high = fixture_model.interior(piece, opening)
    if 2 * half > high[2] - low[2] - LOW:
        found = coded("fixture.tall", id=held, mm=2000 * half)
        fix = coded("fixture.lower", on=piece.id)
        return _refused(coded("fixture.closes", mm=1000 * (high[2] - low[2] - LOW)), found, fix, job)
    return None


def shut_in(arm: Arm, id: str, states: Container[str], job: str = "") -> Finding | None:
    """Why a thing cannot be taken out of a drawer or a chest that is as one of the `states` says."""
    rig = arm.rig
    for box in filter(rig.knows_opening, rig.fixtures):
        piece = rig.things[box]
        if id in rig.contents(box) and fixture_model.state(piece, rig.opening(box)) in states:
            found = coded("fixture.shut_in", id=id, where=box)
            return _not_open(arm, piece, "ACTION.md params.object_id", found, job, fact(id, "in", box))
    return None


def _not_open(arm: Arm, piece: Thing, field: str, found: str, job: str, *besides: str) -> Finding:
    expected, fix = coded("fixture.open_one"), coded("fixture.open_first", id=piece.id)
    shut = fact(piece.id, "status", fixture_model.state(piece, arm.rig.opening(piece.id)))
    return Finding("CRITIC_REFUSED", field, expected, found, fix, job, condition=facts(shut, *besides))


def _refused(expected: str, found: str, fix: str, job: str) -> Finding:
    return Finding("CRITIC_REFUSED", "ACTION.md params.target", expected, found, fix, job)


def spots(arm: Arm, held: str, piece: Thing, half: float, at: Array | None = None) -> Iterator[Spot]:
    """The freest first, or those nearest to the point `at` (m), if there is one; never over what lies there already: it
    could stand out."""
    rig, thing = arm.rig, arm.rig.things[held]
    turn, middle = rotations.matrix(piece.orientation), np.array(piece.position)
    low, high = fixture_model.mouth(piece, rig.opening(piece.id))
    radius = math.hypot(*thing.size[:2]) / 2 if thing.shape == "box" else thing.size[0] / 2
    room = (high - low)[:2] / 2 - radius - ROOM
    if np.any(room < 0):
        return
    inside = [
        (turn.T @ (rig.position(id) - middle), float(np.max(rig.half(id)[:2])))
        for id in rig.contents(piece.id)
        if id != held
    ]
    ranked = []
    wanted = None if at is None else (turn.T @ (np.array([*at[:2], middle[2]]) - middle))[:2]
    centre, shares = (low + high)[:2] / 2, (0.0, -0.5, 0.5, -1.0, 1.0)
    there = [] if wanted is None else [np.clip(wanted, centre - room, centre + room)]
    for spot in [*there, *(centre + room * [fx, fy] for fx in shares for fy in shares)]:
        gap = min([BESIDE, *(float(np.hypot(*(lies[:2] - spot))) - wide - radius for lies, wide in inside)])
        away = float(np.hypot(*(spot - centre) / np.maximum(room, 1e-6)))
        if gap > 0:
            rank = -gap + 0.05 * away if wanted is None else float(np.hypot(*(spot - wanted)))
            ranked.append((rank, spot))
    tcp, _ = rig.view.tcp_pose()
    grip = float(tcp[2] - rig.position(held)[2]) + half
    above = max(DROP, float(high[2] - low[2]) + PALM - (panda.TCP - panda.PALM) - grip)
    for _, spot in sorted(ranked, key=lambda item: item[0]):
        yield middle + turn @ np.array([*spot, low[2] + half]), above

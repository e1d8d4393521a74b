"""Where a camera sits on a robot's hand, from pictures of a board that stands still and the hand's pose at each.

base_T_hand(i) · hand_T_camera · camera_T_board(i) is the board in the base frame, the same for every picture. A first
guess by Park and Martin (1994, "Robot sensor calibration: solving AX = XB"), then least squares of what is seen: the
distance of the board's corners in the pictures from where the guess draws them. Poses are 4 × 4 matrices, in metres.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.robots.rotations import exp, log

Array = NDArray[np.float64]
LEAST: Final = 5  # pictures
STEPS, NUDGE = 30, 1e-7  # of the search; m or rad of a slope
TURN: Final = 0.35  # rad between the two that differ most, about two axes: less leaves the offset undetermined


class BoardSight(NamedTuple):
    """One picture: the hand's pose, the board's in the camera's frame (x right, y down, z ahead), and its corners.

    `corners`: where they are on the board (n, 3), metres; `pixels`: in the picture (n, 2)."""

    hand: Array
    board: Array
    corners: Array
    pixels: Array


class HandEye(NamedTuple):
    """`camera`: in the hand's frame; `board`: in the base frame; `rms_px`: of the corners.

    `spread_mm`, `spread_deg`: how far the board of a picture lies from the common one, the worst."""

    camera: Array
    board: Array
    rms_px: float
    spread_mm: float
    spread_deg: float
    pictures: int


def solve(sights: Sequence[BoardSight], focal: Array) -> HandEye:
    """`focal`: the camera's matrix (3, 3), pictures without distortion.

    Raises `BadInput` for too few pictures, or a hand that hardly turned."""
    if len(sights) < LEAST:
        raise BadInput(coded("plugin.few_boards", n=len(sights)), expected=coded("plugin.least_boards", n=LEAST))
    _turned_enough(sights)
    guess = park_martin([sight.hand for sight in sights], [sight.board for sight in sights])
    board = sights[0].hand @ guess @ sights[0].board

    def residuals(free: Array) -> Array:
        camera, still = pose(free[:6]), pose(free[6:])
        return np.concatenate([_missed(sight, camera, still, focal) for sight in sights])

    found = _least_squares(residuals, np.concatenate([vector(guess), vector(board)]))
    camera, still = pose(found[:6]), pose(found[6:])
    rms = float(np.sqrt(2 * np.mean(residuals(found) ** 2)))
    apart = [np.linalg.inv(still) @ sight.hand @ camera @ sight.board for sight in sights]
    return HandEye(
        camera, still, rms, 1000 * max(float(np.linalg.norm(one[:3, 3])) for one in apart),
        float(np.degrees(max(float(np.linalg.norm(log(one[:3, :3]))) for one in apart))), len(sights),
    )  # fmt: skip


def park_martin(hands: Sequence[Array], boards: Sequence[Array]) -> Array:
    """hand_T_camera from every pair of pictures: A X = X B, rotation first."""
    moved = [
        (np.linalg.inv(hands[j]) @ hands[i], boards[j] @ np.linalg.inv(boards[i]))
        for i in range(len(hands)) for j in range(i)
    ]  # fmt: skip
    turns = sum(np.outer(log(b[:3, :3]), log(a[:3, :3])) for a, b in moved)
    u, _, vt = np.linalg.svd(turns)  # the rotation that brings the turns of B onto those of A
    turned = vt.T @ np.diag([1.0, 1.0, np.linalg.det(vt.T @ u.T)]) @ u.T
    left = np.concatenate([a[:3, :3] - np.eye(3) for a, _ in moved])
    right = np.concatenate([turned @ b[:3, 3] - a[:3, 3] for a, b in moved])
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = turned, np.linalg.lstsq(left, right, rcond=None)[0]
    return found


def _least_squares(residuals: Callable[[Array], Array], free: Array) -> Array:
    """Gauss-Newton from a near guess, each step halved until it helps."""
    missed = residuals(free)
    for _ in range(STEPS):
        slopes = np.stack([(residuals(free + nudge) - missed) / NUDGE for nudge in NUDGE * np.eye(len(free))], axis=1)
        way = np.linalg.lstsq(slopes, -missed, rcond=None)[0]
        while (better := residuals(free + way)) @ better > missed @ missed:
            way = way / 2
            if np.linalg.norm(way) < NUDGE:
                return free
        free, missed = free + way, better
        if np.linalg.norm(way) < NUDGE:
            return free
    return free


def _missed(sight: BoardSight, camera: Array, board: Array, focal: Array) -> Array:
    seen = np.linalg.inv(sight.hand @ camera) @ board
    drawn = (focal @ (seen[:3, :3] @ sight.corners.T + seen[:3, 3:])).T
    missed: Array = (drawn[:, :2] / drawn[:, 2:] - sight.pixels).ravel()
    return missed


def _turned_enough(sights: Sequence[BoardSight]) -> None:
    """Turns about one axis alone leave the offset along it free."""
    turns = np.array([log(sights[0].hand[:3, :3].T @ sight.hand[:3, :3]) for sight in sights])
    second = float(np.linalg.svd(turns - turns.mean(axis=0), compute_uv=False)[1]) / np.sqrt(len(sights))
    if 2 * second < TURN:
        raise BadInput(
            coded("plugin.little_turned", deg=np.degrees(2 * second)),
            expected=coded("plugin.turn_more", deg=np.degrees(TURN)),
        )  # fmt: skip


def vector(matrix: Array) -> Array:
    """Rotation vector and position."""
    return np.concatenate([log(matrix[:3, :3]), matrix[:3, 3]])


def pose(values: Array) -> Array:
    """The matrix of a rotation vector and a position."""
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = exp(values[:3]), values[3:6]
    return made

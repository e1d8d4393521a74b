"""A camera's place on the hand from where a board's corners are seen; too little to tell is said."""

from __future__ import annotations

import numpy as np
import pytest

from worldfs.base.errors import BadInput
from worldfs.plugins.teleoperation.hand_eye import LEAST, BoardSight, pose, solve

FOCAL = np.array([[460.0, 0, 319.5], [0, 460, 239.5], [0, 0, 1]])
CAMERA = pose(np.array([0.1, -0.2, 1.5, 0.05, -0.03, 0.06]))
BOARD = pose(np.array([0.0, 0.0, 0.4, 0.45, 0.05, 0.0]))
CORNERS = np.array([(0.03 * x, 0.03 * y, 0.0) for x in range(1, 7) for y in range(1, 5)])


def looks(count, *, noise=0.0, slip=0.0, turns=(0.3, 0.3, 0.6)):
    """Corners as a camera on the hand sees them; `noise`: pixels, `slip`: what the arm's own pose is wrong by (m)."""
    rng, found = np.random.default_rng(1), []
    for _ in range(count):
        away = pose(np.array([np.pi, 0, 0, 0.09, 0.07, 0.35]))  # above the board, looking down
        moved = pose(np.concatenate([rng.uniform(-1, 1, 3) * turns, rng.uniform(-0.05, 0.05, 3)]))
        eye = BOARD @ away @ moved
        seen = np.linalg.inv(eye) @ BOARD
        drawn = (FOCAL @ (seen[:3, :3] @ CORNERS.T + seen[:3, 3:])).T
        pixels = drawn[:, :2] / drawn[:, 2:] + rng.normal(0, noise, (len(CORNERS), 2))
        hand = eye @ np.linalg.inv(CAMERA)
        hand[:3, 3] += rng.normal(0, slip, 3)
        found.append(BoardSight(hand, seen, CORNERS, pixels))
    return found


def test_the_camera_is_found_where_it_is_and_an_arm_that_is_wrong_by_half_a_millimetre_shows_in_the_spread():
    exact = solve(looks(8), FOCAL)
    assert np.allclose(exact.camera, CAMERA, atol=1e-6) and np.allclose(exact.board, BOARD, atol=1e-6)
    assert exact.rms_px < 1e-4 and exact.spread_mm < 1e-2 and exact.pictures == 8
    rough = solve(looks(20, noise=0.2, slip=0.0005), FOCAL)
    assert 1000 * np.linalg.norm(rough.camera[:3, 3] - CAMERA[:3, 3]) < 1.0
    assert rough.spread_mm > 0.3 and rough.rms_px > 0.2


def test_too_few_pictures_and_a_hand_that_turns_about_one_axis_are_refused():
    with pytest.raises(BadInput, match=f"{LEAST - 1} pictures"):
        solve(looks(LEAST - 1), FOCAL)
    with pytest.raises(BadInput, match="second axis"):
        solve(looks(12, turns=(0.0, 0.0, 0.6)), FOCAL)

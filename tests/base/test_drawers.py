"""What is in a drawer or a chest by its place, held against a reckoning of its own."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from worldfs.base.drawers import CHEST, DRAWER, GAP, RIM, SIZE, WALL
from worldfs.base.hollows import is_in
from worldfs.base.model import Thing

HALF_TURN = math.pi


def turned(x: float, y: float, turn: float) -> tuple[float, float]:
    return x * math.cos(turn) - y * math.sin(turn), x * math.sin(turn) + y * math.cos(turn)


def fixture(kind: str, turn: float = 0.0, at: tuple[float, ...] = (0.6, 0.3, 0.08), **more) -> Thing:
    return Thing(kind, shape=kind, position=at, orientation=(math.cos(turn / 2), 0.0, 0.0, math.sin(turn / 2)), **more)


def within(kind: str, own: tuple[float, float, float], out: float, margin: float) -> bool | None:
    """None: nearer than `margin` to a wall, the bottom or the rim."""
    depth, wide, high = SIZE[kind]
    if kind == DRAWER:
        side, floor = WALL + GAP + WALL, WALL + GAP + WALL
        front, back = -depth / 2 - out + WALL, depth / 2 - out - side
        rim = high / 2 - WALL - GAP - RIM if own[0] < -depth / 2 else high / 2 - WALL
    else:
        side = floor = WALL
        front, back, rim = -depth / 2 + side, depth / 2 - side, high / 2 - WALL
    room = (own[0] - front, back - own[0], wide / 2 - side - abs(own[1]), own[2] + high / 2 - floor, rim - own[2])
    if kind == DRAWER and abs(own[0] + depth / 2) < margin:
        return None  # under the edge of the case the rim is another
    return None if min(map(abs, room)) < margin else min(room) > 0


@pytest.mark.parametrize("kind", [DRAWER, CHEST])
def test_what_is_in_it_is_so_by_its_place_and_what_is_on_it_or_beside_it_is_not(kind):
    dice, judged = random.Random(7), {True: 0, False: 0}
    for _ in range(3000):
        turn, out = dice.uniform(-HALF_TURN, HALF_TURN), dice.choice((0.0, dice.uniform(0.0, 0.13)))
        own = (dice.uniform(-0.3, 0.2), dice.uniform(-0.2, 0.2), dice.uniform(-0.07, 0.12))
        wanted = within(kind, own, out, 0.007)
        if wanted is None:
            continue
        x, y = turned(*own[:2], turn)
        piece = fixture(kind, turn, extra={"opening": out})
        one = Thing("one", shape="box", size=(0.01,) * 3, position=(0.6 + x, 0.3 + y, 0.08 + own[2]))
        assert is_in(one, piece) is wanted, (own, turn, out)
        judged[wanted] += 1
    assert min(judged.values()) > 100


def box(x: float, z: float, high: float = 0.011) -> Thing:
    return Thing("one", shape="box", size=(0.03, 0.03, high), position=(x, 0.3, z))


@pytest.mark.parametrize("sunk", [-0.005, 0.0, 0.005])
@pytest.mark.parametrize("high", [0.002, 0.011, 0.04])
def test_a_thing_at_rest_or_up_to_five_millimetres_off_is_in_it(high, sunk):
    for kind, floor in ((DRAWER, WALL + GAP + WALL), (CHEST, WALL)):
        rest = 0.08 - SIZE[kind][2] / 2 + floor + high / 2
        assert is_in(box(0.6, rest + sunk, high), fixture(kind)) is True


def test_a_page_that_says_only_that_a_drawer_is_open_does_not_tell_what_is_in_its_drawn_part():
    piece, known = fixture(DRAWER, status="open"), fixture(DRAWER, status="open", extra={"opening": 0.12})
    assert is_in(box(0.45, 0.045), piece) is None and is_in(box(0.45, 0.045), known) is True
    assert is_in(box(0.55, 0.045), piece) is True  # however far
    assert is_in(box(0.45, 0.0155), piece) is False  # below the drawer's bottom
    assert is_in(box(0.2, 0.045), piece) is False


def test_without_a_place_nothing_is_said():
    nowhere = (math.nan,) * 3
    assert is_in(replace(box(0.6, 0.045), position=nowhere), fixture(CHEST)) is None
    assert is_in(box(0.6, 0.045), fixture(CHEST, at=nowhere)) is None

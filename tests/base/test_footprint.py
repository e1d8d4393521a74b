"""What is said of a gap by circles alone is never otherwise than the gap itself."""

from __future__ import annotations

import math
from random import Random

from worldfs.base.footprint import gap, is_surely_out, narrowest_gap
from worldfs.base.model import Thing

SIZES = ((), (0.05, 0.05, 0.05), (0.3, 0.04, 0.1), (0.02, 0.2, 0.02))


def thing(id: str, chance: Random) -> Thing:
    turn = chance.uniform(-math.pi, math.pi)
    position = (chance.uniform(0.3, 0.7), chance.uniform(-0.3, 0.3), 0.03)
    shape = chance.choice(("box", "sphere", "cylinder"))
    quaternion = (math.cos(turn / 2), 0.0, 0.0, math.sin(turn / 2))
    return Thing(id, id, "thing", position, size=chance.choice(SIZES), shape=shape, orientation=quaternion)


def test_what_is_surely_out_is_out() -> None:
    chance, out = Random(3), 0
    for _ in range(2000):
        one, other = thing("one", chance), thing("other", chance)
        least, most = chance.uniform(0.0, 0.1), chance.uniform(0.1, 0.3)
        if is_surely_out(one, other, least, most):
            out += 1
            assert narrowest_gap(one, other) < least or gap(one, other) > most, (one, other, least, most)
    assert 200 < out < 1900

"""What was taken over from another arm is set down again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from .test_hand_over import CUBE, FAR, GIVE, measured, pair_with

APPLE = replace(CUBE, shape="sphere", size=(0.066,) * 3, position=(0.40, 0.30, 0.0335))


@pytest.mark.parametrize("thing", [CUBE, APPLE], ids=["cube", "ball"])
def test_what_was_taken_over_is_placed(thing):
    pair = pair_with(thing)
    done = pair.together(GIVE)
    assert done[FAR][0].ok, measured(done)
    target = {"target": pair.drivers[FAR].observe().furniture[0].id}
    assert not pair.review(FAR, "place", **target)
    (placed,) = pair.run(FAR, ("place", target))
    assert placed.ok, placed

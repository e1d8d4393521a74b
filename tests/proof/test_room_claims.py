"""Claims of room in boxes against a judge that puts the thing and the fingers everywhere."""

from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")

from tests.robots.test_room_in_boxes import judged

pytestmark = pytest.mark.proof


def test_claims_of_room_agree_with_the_judge(capsys):
    told = Counter(judged(seed) for seed in range(1000, 1300))
    wrong = {text: n for text, n in told.items() if text not in ("room", "none")}
    with capsys.disabled():
        print(f"\n{told.total()} boxes: room in {told['room']}, none in {told['none']}, {len(wrong)} wrong")
    assert len(wrong) <= 3, wrong

"""A thing that holds another up is left where it is, and the person is told what would fall; in English and Chinese."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("mujoco")


def block(id: str, color: str, y: float):
    return {"id": id, "name": f"{color} block", "category": "block", "shape": "box", "color": color, "mass": 0.15,
            "size": [0.05, 0.05, 0.06], "position": [0.45, y, 0.03]}  # fmt: skip


@pytest.fixture
def bridge(onboarded: Callable):
    """A board across two blocks, its weight nearer to the blue one; a green block beside them."""
    place = onboarded()
    place.up("--seed", "7")
    board = {"id": "board_01", "name": "board", "category": "board", "shape": "box", "mass": 0.1,
             "size": [0.06, 0.2, 0.01], "position": [0.45, 0.18, 0.065]}  # fmt: skip
    blocks = [block("block_01", "red", 0.1), block("block_02", "blue", 0.24), block("block_03", "green", -0.1)]
    place.furnish([*blocks, board])
    return place


@pytest.mark.proof
def test_no_support_of_a_bridge_is_taken_and_the_board_is_named(bridge) -> None:
    at = bridge.up() and bridge.thing("board_01")["position"]
    for text, name in (
        ("pick up the red block", "board"),
        ("put the blue block in the basket", "board"),
        ("把红色积木放进篮子里", "board"),
        ("push the blue block 8 cm forward", "board"),
    ):
        said = bridge.do(text)
        assert said.code != 0 and name in said.out + said.err and "the board and the board" not in said.out, said
        assert bridge.thing("board_01")["position"] == pytest.approx(at, abs=0.001), text
    said = bridge.do("put the green block in the basket")
    assert said.code == 0, said
    said = bridge.do("put the board on the table, then put the red block in the basket")
    assert said.code == 0, said
    assert bridge.where("block_01") == {("in", "basket_01")}

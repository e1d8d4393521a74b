"""A negation, a question or a supposition moves nothing: no job is made, no body started, no document written."""

from __future__ import annotations

import pytest

from worldfs.testing.null_driver import NullDriver

SAYINGS = {
    "don't clear the table": 2,
    "do not clear the table": 2,
    "never put the apple in the basket": 2,
    "别收拾桌子": 2,
    "不要把苹果放进篮子": 2,
    "what is on the table?": 0,
    "where is the apple?": 0,
    "is the table clear?": 0,
    "how many cubes are there?": 0,
    "桌子上有什么？": 0,
    "苹果在哪里？": 0,
    "if I asked you to clear the table, would you?": 0,
    "if the table is dirty, clear it": 2,
    "如果桌子脏了就收拾": 2,
    "yesterday you cleared the table": 2,
    "fly to the moon": 2,
    "clear the tablet": 2,
    "could you not clear the table?": 2,
    "is the can tasty?": 2,
    "...": 2,
}


@pytest.fixture(scope="module")
def home(onboarded):
    """With the real scene of a seed in its files, and then a body that only counts."""
    pytest.importorskip("mujoco")
    place = onboarded()
    assert place.up("--seed", "7").code == 0
    assert isinstance(place.thing("apple_01"), dict)
    return place


@pytest.mark.slice(3)
@pytest.mark.parametrize("saying", SAYINGS)
def test_it_moves_nothing(home, saying: str, monkeypatch: pytest.MonkeyPatch) -> None:
    executed: list[object] = []
    bodies = {"simulation": lambda seat: NullDriver(executed=executed)}
    monkeypatch.setattr("worldfs.interfaces.cli.driver_factories.factories", lambda name, **options: bodies)
    before = {name: data for name, (data, _) in home.bytes().items() if "lock" not in name}
    said = home.paos("do", saying)
    # Of what may not be done it says so; a question about what would be is either answered or not understood.
    assert said.code in ({0, 2} if saying.startswith("if I") else {SAYINGS[saying]}), said
    assert said.out.strip()
    assert executed == []
    assert {name: data for name, (data, _) in home.bytes().items() if "lock" not in name} == before


def test_answers_are_about_this_table(home) -> None:
    said = home.do("what is on the table?")
    for name in ("apple", "cube", "can", "bar", "brick"):
        assert name in said.out
    assert "basket" in home.do("what is in the basket?").out
    chinese = home.do("桌子上有什么？").out
    for name in ("苹果", "方块", "罐子", "长条", "砖块"):
        assert name in chinese

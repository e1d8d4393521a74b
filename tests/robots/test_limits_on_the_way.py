"""The bounds of a profile hold on the way, too: where an operation lifts, carries, tilts, retreats, or chooses a place
itself, the tool point and the middle of what is held stay within them, or nothing moves and the refusal names the
bound. Measured from the simulation's own state at every fifth step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from worldfs.base.model import Json, Profile, RobotState, Scene, Thing
from worldfs.base.standard_operations import PICK_UP, PLACE_DOWN
from worldfs.planning.critic import Critic
from worldfs.robots.mujoco import hand_over

from .conftest import BASKET, TABLE, Hand
from .test_fixtures import DRAWER
from .test_hand_over import FAR, GIVE, NEAR, pair_with
from .test_pour import BOWL, CUP

EVERY = 5  # steps of the world between two samples
OFF = 0.006  # m that a servo runs over
AXES = "xyz"
SIDES = [(axis, side) for axis in AXES for side in ("low", "high")]
OPS = (PICK_UP, PLACE_DOWN)
WIDE = ((-3.0, 3.0),) * 3

CUBE = Thing("cube_01", shape="box", position=(0.45, 0.0, 0.025), size=(0.05,) * 3, mass=0.1)
OTHER = replace(CUBE, id="cube_02", position=(0.5, 0.2, 0.025))
LYING = Thing("can_01", shape="cylinder", position=(0.45, 0.0, 0.025), size=(0.05, 0.05, 0.1), mass=0.2,
              orientation=(0.7071, 0.7071, 0.0, 0.0))  # fmt: skip
SPONGE = Thing("sponge_01", "sponge", shape="box", position=(0.45, 0.0, 0.015), size=(0.07, 0.05, 0.03), mass=0.05)
MARKED = Thing("spill_01", "spill", "region", (0.45, 0.2, 0.0), size=(0.12, 0.1, 0.002), shape="region")
WALLED = (
    replace(CUBE, position=(0.5, 0.1, 0.025)),
    replace(CUBE, id="wall_01", position=(0.553, 0.1, 0.025)),
    replace(CUBE, id="wall_02", position=(0.5, 0.153, 0.025)),
)
PICK: tuple[str, Json] = ("pick_up", {"object_id": "cube_01"})


@dataclass(frozen=True)
class Case:
    op: str
    params: Json
    things: tuple[Thing, ...] = (CUBE, OTHER)
    fixed: tuple[Thing, ...] = (TABLE, BASKET)
    first: tuple[tuple[str, Json], ...] = ()  # done before, without bounds


def _steps(*given: tuple[str, Json]) -> Json:
    return {"name": "steps", "steps": [{"action_type": op, "params": params} for op, params in given]}


CASES = {
    "move_to": Case("move_to", {"target_pose": [0.45, -0.25, 0.3]}),
    "pick_up": Case(*PICK),
    "place on a table": Case("place", {"target": "table_01"}, first=(PICK,)),
    "place in a basket": Case("place", {"target": "basket_01"}, first=(PICK,)),
    "place on a thing": Case("place", {"target": "cube_02"}, first=(PICK,)),
    "place beside": Case("place_beside", {"target": "cube_02", "side": "right", "distance": 0.05}, first=(PICK,)),
    "push": Case("push", {"object_id": "cube_01", "direction": "right", "distance": 0.1}),
    "upright": Case("upright", {"object_id": "can_01"}, (LYING,)),
    "stack": Case("stack", {"object_ids": ["cube_02", "cube_01"]}),
    "wipe": Case("wipe", {"object_id": "sponge_01", "target": "spill_01"}, (SPONGE,), (TABLE, MARKED)),
    "pour": Case("pour", {"object_id": "cup", "target": "bowl"}, (CUP, BOWL), (TABLE,)),
    "nudge": Case("nudge", {"object_id": "cube_01"}, WALLED, (TABLE,)),
    "open": Case("open_fixture", {"object_id": "drawer"}, (), (TABLE, DRAWER)),
    "home": Case("strategy", {"name": "home"}, first=(("move_to", {"target_pose": [0.4, -0.2, 0.15]}),)),
    "wave": Case("strategy", {"name": "wave"}, first=(("move_to", {"target_pose": [0.4, -0.2, 0.15]}),)),
    "pick and place": Case("strategy", {"name": "pick_and_place", "object_id": "cube_01", "target": "basket_01"}),
    "a stack inside steps": Case("strategy", _steps(("stack", {"object_ids": ["cube_02", "cube_01"]}))),
}


def _profile(axis: str = "x", side: str = "low", value: float = -3.0) -> Profile:
    bounds = list(WIDE)
    at = AXES.index(axis)
    bounds[at] = (value, WIDE[at][1]) if side == "low" else (WIDE[at][0], value)
    return Profile(bounds=tuple(bounds), bounds_frame="world")


FREE = Profile()


class BoundedHand:
    """A body whose profile a test may change between two orders, and which notes where it was."""

    def __init__(self, case: Case, opened: Callable[..., Hand], profile: Profile = FREE) -> None:
        self.profile = profile
        scene = Scene((RobotState("franka_001"),), case.things, case.fixed)
        self.hand = opened(scene=scene, profile=lambda: self.profile)
        for op, params in () if profile is not FREE else case.first:
            assert self.hand.do(op, **params).ok

    def carry_out(self, case: Case) -> tuple[Any, np.ndarray]:
        """The outcome, and each place of the tool point and of what is held (n × 3, m)."""
        arm, places = self.hand.body.arm, []
        mover = arm.mover

        def look() -> None:
            places.append(arm.view.tcp_pose()[0].copy())
            if (held := arm.rig.held()) is not None:
                places.append(arm.rig.position(held).copy())

        look()
        mover.watch, mover.watch_every = look, EVERY
        done = self.hand.do(case.op, **case.params)
        mover.watch = None
        return done, np.array(places)


@cache
def _natural(name: str) -> tuple[np.ndarray, np.ndarray]:
    """How far an operation goes (m, lowest and highest) where nothing bounds it; it begins and ends within that."""
    made: list[Hand] = []

    def opened(**settings: Any) -> Hand:
        scene = settings.pop("scene")
        made.append(Hand(scene, **settings))
        return made[-1]

    done, places = BoundedHand(CASES[name], opened).carry_out(CASES[name])
    for hand in made:
        hand.body.close()
    assert done.ok, (name, done.message)
    return places.min(axis=0), places.max(axis=0)


@pytest.mark.proof
@pytest.mark.parametrize(("axis", "side"), SIDES)
@pytest.mark.parametrize("name", CASES)
def test_an_operation_stays_within_the_bounds_or_is_refused_by_them(name, axis, side, opened):
    case, at = CASES[name], AXES.index(axis)
    low, high = _natural(name)
    bounded = BoundedHand(case, opened)
    start = bounded.hand.body.arm.view.tcp_pose()[0][at]
    room = (start - low[at], high[at] - start)[side == "high"]
    value = (low[at] + min(0.05, room / 2), high[at] - min(0.05, room / 2))[side == "high"]
    bounded.profile = _profile(axis, side, value)
    before = bounded.hand.rig.simulation.data.qpos.copy()
    found = bounded.hand.review(case.op, **case.params)
    assert np.array_equal(bounded.hand.rig.simulation.data.qpos, before)
    if found:
        assert [one.code for one in found] == ["PROFILE_LIMIT"] and axis in found[0].expected, found
    done, places = bounded.carry_out(case)
    reached = places[:, at].min() if side == "low" else places[:, at].max()
    assert reached > value - OFF if side == "low" else reached < value + OFF, (reached, value, done.message)
    assert done.ok if not found else done.code == "PROFILE_LIMIT", done.message


@cache
def _farthest(name: str) -> float:
    """How far from the base (m) an operation goes where nothing bounds it."""
    made: list[Hand] = []

    def opened(**settings: Any) -> Hand:
        scene = settings.pop("scene")
        made.append(Hand(scene, **settings))
        return made[-1]

    done, places = BoundedHand(CASES[name], opened).carry_out(CASES[name])
    for hand in made:
        hand.body.close()
    assert done.ok, (name, done.message)
    return float(np.linalg.norm(places, axis=1).max())


def _reaching(metres: float) -> Profile:
    return Profile(max_reach=metres)


@pytest.mark.slice(21)
@pytest.mark.parametrize(
    "less", [0.1, *(pytest.param(m, marks=pytest.mark.proof) for m in (-0.01, 0.02, 0.05, 0.15, 0.2, 0.3))]
)
@pytest.mark.parametrize("name", CASES)
def test_an_operation_stays_within_the_reach_or_is_refused_by_it(name, less, opened):
    """The arm begins within the reach."""
    case, reach = CASES[name], _farthest(name) - less
    bounded = BoundedHand(case, opened, _reaching(reach))
    for op, params in (*case.first, (case.op, case.params)):
        step = replace(case, op=op, params=params)
        found = bounded.hand.review(op, **params)
        done, places = bounded.carry_out(step)
        assert np.linalg.norm(places, axis=1).max() < reach + OFF, (op, reach, done.message)
        assert done.ok if not found else done.code == found[0].code, done.message
        if found:
            assert less > 0.0 and ("Max Reach" in found[0].field or less > 0.15), found
            return


@pytest.mark.slice(3, 1)
@pytest.mark.parametrize("name", CASES)
def test_an_arm_beyond_its_reach_goes_no_farther(name, opened):
    """The reach is lessened while the arm works."""
    case = CASES[name]
    bounded = BoundedHand(case, opened)
    bounded.profile = _reaching(0.5)
    began = float(np.linalg.norm(bounded.hand.body.arm.view.tcp_pose()[0]))
    found = bounded.hand.review(case.op, **case.params)
    done, places = bounded.carry_out(case)
    away = np.linalg.norm(places, axis=1)
    assert away.max() < max(0.5, began, float(away[:2].max())) + OFF, (away.max(), done.message)
    assert done.ok if not found else done.code == found[0].code, done.message


@pytest.mark.slice(7)
@pytest.mark.parametrize("name", CASES)
def test_the_reach_of_the_arm_itself_keeps_nothing_from_being_done(name, opened):
    case = CASES[name]
    bounded = BoundedHand(case, opened, _reaching(0.855))
    for op, params in (*case.first, (case.op, case.params)):
        assert bounded.hand.review(op, **params) == []
        done, places = bounded.carry_out(replace(case, op=op, params=params))
        assert done.ok and np.linalg.norm(places, axis=1).max() < 0.855 + OFF, done.message


LIFTS = {"pick_up", "place in a basket", "stack", "pick and place", "a stack inside steps", "push", "upright", "home"}


@pytest.mark.slice(15, 10)
@pytest.mark.parametrize("highest", [0.18, *(pytest.param(z, marks=pytest.mark.proof) for z in (0.1, 0.25, 0.3, 0.4))])
@pytest.mark.parametrize("name", CASES)
def test_under_a_low_bound_the_arm_lifts_less(name, highest, opened):
    case = CASES[name]
    bounded = BoundedHand(case, opened, _profile("z", "high", highest))
    for op, params in (*case.first, (case.op, case.params)):
        step = replace(case, op=op, params=params)
        found = bounded.hand.review(op, **params)
        done, places = bounded.carry_out(step)
        assert places[:, 2].max() < highest + OFF, (op, places[:, 2].max(), done.message)
        assert done.ok if not found else done.code == "PROFILE_LIMIT", done.message
        if not done.ok:
            assert name not in LIFTS or highest < 0.18, done.message
            return


@pytest.mark.slice(3)
@pytest.mark.parametrize("axis", AXES)
def test_a_place_that_the_arm_chooses_itself_is_within_the_bounds(axis, opened):
    case, at = CASES["place on a table"], AXES.index(axis)
    bounded = BoundedHand(case, opened)
    bounded.profile = _profile(axis, "low", (0.5, 0.12, 0.0)[at])
    assert bounded.hand.review(case.op, **case.params) == []
    done, _ = bounded.carry_out(case)
    assert done.ok and bounded.hand.seen("cube_01").position[at] > (0.5, 0.12, 0.0)[at] - OFF, done.message


@pytest.mark.slice(3)
@pytest.mark.parametrize(
    ("axis", "side", "value"), [("x", "low", 0.4), ("y", "low", -0.42), ("x", "high", 0.42), ("y", "high", -0.35)]
)
def test_a_basket_that_a_bound_cuts_is_used_within_it(axis, side, value, opened):
    case, at = CASES["place in a basket"], AXES.index(axis)
    bounded = BoundedHand(case, opened)
    bounded.profile = _profile(axis, side, value)
    scene = bounded.hand.body.observe()
    judged = Critic().review(bounded.hand.order(case.op, **case.params), scene, replace(bounded.profile, ops=OPS))
    assert not [one for one in judged if not one.warning], judged
    done, _ = bounded.carry_out(case)
    stands = bounded.hand.seen("cube_01").position[at]
    assert done.ok and (stands > value - OFF if side == "low" else stands < value + OFF), done.message


def test_a_basket_wholly_beyond_a_bound_is_refused_at_its_own_place(opened):
    case = CASES["place in a basket"]
    bounded = BoundedHand(case, opened)
    scene = bounded.hand.body.observe()
    profile = replace(_profile("x", "low", 0.6), ops=OPS)
    (found,) = [one for one in Critic().review(bounded.hand.order(case.op, **case.params), scene, profile)
                if not one.warning]  # fmt: skip
    assert "[0.4, -0.4" in found.found, found


@pytest.mark.slice(2, 1)
@pytest.mark.parametrize("highest", [0.42, 0.28, 0.12, -0.05])
def test_a_thing_is_held_out_below_the_upper_bound_or_the_bound_is_named(highest, monkeypatch):
    monkeypatch.setattr(hand_over, "PATIENCE", 0.5)
    pair = pair_with()
    assert pair.run(NEAR, GIVE[NEAR][0])[0].ok
    giver = pair.drivers[NEAR]
    monkeypatch.setattr(giver, "_profile", lambda: _profile("z", "high", highest))
    start, found = giver.arm.view.tcp_pose()[0][2], pair.review(NEAR, "hand_over", to=FAR)
    if highest < 0.0:
        assert [one.code for one in found] == ["PROFILE_LIMIT"] and "z in" in found[0].expected
        return
    heights: list[float] = []
    giver.arm.mover.watch, giver.arm.mover.watch_every = lambda: heights.append(giver.arm.view.tcp_pose()[0][2]), EVERY
    (done,) = pair.run(NEAR, GIVE[NEAR][1])
    assert found == [] and done.code == "NOT_TAKEN" and max(heights) < max(start, highest) + OFF, done

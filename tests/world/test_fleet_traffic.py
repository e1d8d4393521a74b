"""Vehicles in one lane and arms at one table, sent by missions: nobody meets, nobody waits for ever, all have reasons.

All cases are in `tests/proof/test_fleet_traffic.py`. The bodies see nothing of each other: what keeps them apart is the
orchestrator alone, and the judge looks at where they were at every moment.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from worldfs.base.model import Order, RobotState, Scene
from worldfs.fleet.mission_reservations import MissionReservations
from worldfs.fleet.reservations import ReservationTable
from worldfs.testing.fleet_traffic import head_on, in_the_way, passed_by, shared_objects
from worldfs.world.order_reservations import HALF, order_needs, stands_on

SWAPS = 1  # the seed of a case whose robots change places, so that one must step aside


@pytest.mark.slice(3)
@pytest.mark.parametrize("make", [head_on, shared_objects])
@pytest.mark.parametrize("seed", range(2))
def test_what_several_want_one_has_and_all_arrive(tmp_path, make, seed):
    case = make(tmp_path, seed)
    case.run()
    assert (case.judge(), case.deadlock, case.failed) == ([], [], [])
    assert len(case.missions) == len(case.texts)


@pytest.fixture
def unreserved(monkeypatch):
    monkeypatch.setattr(MissionReservations, "reserve", lambda self, mission, at_work, *asked: 0)


@pytest.mark.parametrize(("make", "kinds"), [(head_on, {"collision"}), (shared_objects, {"collision", "taken"})])
def test_without_reservations_the_judge_sees_them_meet(tmp_path, unreserved, make, kinds):
    found = set()
    for seed in range(6):
        case = make(tmp_path / str(seed), seed)
        case.run()
        found |= {violation.kind for violation in case.judge()}
        if found == kinds:
            break
    assert found == kinds


def test_who_stands_in_each_other_s_place_is_resolved_by_one_that_steps_aside(tmp_path):
    case = head_on(tmp_path, SWAPS)
    case.run("zh")
    assert (case.judge(), case.deadlock, case.failed) == ([], [], [])
    assert any("互相等待：先按优先级、再按先后，为" in said and "避让到" in said for said in case.log)
    page = (tmp_path / "ORCHESTRATOR.md").read_text()
    assert "steps aside for" in page


def test_where_there_is_no_place_to_step_aside_one_fails_with_that_reason_and_the_other_waits_for_a_person(tmp_path):
    case = head_on(tmp_path, SWAPS, bays=False)
    case.run()
    assert case.judge() == []
    assert ["name one with `passing`" in said for said in case.failed] == [True]
    assert len(case.deadlock) == 1 and "which stands there" in "".join(case.log)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_idle_robot_in_the_way_is_sent_aside_to_a_place_that_a_person_named(tmp_path, language):
    case = in_the_way(tmp_path)
    case.run(language)
    assert (case.judge(), case.deadlock, case.failed) == ([], [], [])
    sent, aside = case.missions
    assert aside["id"] == f"{sent['id']}_room_cart_2" and aside["state"] == sent["state"] == "succeeded"


def test_an_idle_robot_stays_where_no_place_is_named_to_step_aside(tmp_path):
    case = in_the_way(tmp_path, bays=False)
    case.run()
    assert (case.judge(), case.failed, len(case.missions), len(case.deadlock)) == ([], [], 1, 1)


def test_the_judge_sees_a_deadlock_that_nobody_detects(tmp_path, monkeypatch):
    monkeypatch.setattr(ReservationTable, "_circle", lambda self, but: None)
    case = head_on(tmp_path, SWAPS)
    case.run()
    assert case.deadlock


def test_who_cannot_say_its_way_waits_until_an_idle_robot_on_it_has_gone_aside(tmp_path):
    case = passed_by(tmp_path)
    case.run()
    assert (case.judge(), case.deadlock, case.failed, len(case.missions)) == ([], [], [], 2)


def test_who_cannot_say_its_way_waits_and_says_who_must_be_sent_out_of_it(tmp_path):
    case = passed_by(tmp_path, bays=False)
    case.run()
    assert (case.judge(), case.failed, len(case.deadlock)) == ([], [], 1)
    said = "".join(case.log)
    assert "cart_2 stands idle in the way" in said and "the place [6, 0.95]" in said


def test_a_robot_on_the_way_is_met_also_where_another_stands_beside_its_beginning():
    at = {"a": (0.0, 0.0), "b": (0.5, 0.6), "c": (6.0, 0.5)}
    scene = Scene(tuple(RobotState(id, (*place, 0.0)) for id, place in at.items()))
    needs = order_needs(scene, Order("1", "a", "move_to", {"target_pose": [10.0, 0.0, 0.0]}), mobile=True).all
    met = {id for id in "bc" for item in needs if item.conflicts(stands_on(scene, id, mobile=True)[0])}
    assert met == {"c"}


SPOT = st.tuples(*[st.floats(-20, 20)] * 2)


@example((5.16, 0.43), (-12.0, 1.0), (-3.4, 0.9))
@example((0.0, 0.0), (5.0, 0.0), (-0.6, 0.0))  # it drives off from beside another
@example((0.0, 0.0), (10.0, 10.0), (2.0, 8.0))
@example((0.0, 0.0), (7.0, 7.0), (1.6, 0.0))  # 1.13 m beside it
@example((0.0, 0.0), (7.0, 7.0), (1.2, 0.0))
@example((3.0, 8.0), (2.0, 1.0), (2.0, 8.0))
@example((1.0, 1.0), (-9.0, 0.0), (1.0, 1.0))  # two at one place
@given(SPOT, SPOT, SPOT)
def test_a_straight_way_needs_the_places_on_it_and_none_far_from_it(start, goal, other):
    scene = Scene(tuple(RobotState(id, (*at, 0.0)) for id, at in (("a", start), ("b", other))))
    order = Order("1", "a", "move_to", {"target_pose": [*goal, 0.0]})
    needs, place = order_needs(scene, order, mobile=True).all, stands_on(scene, "b", mobile=True)[0]
    meets = any(item.conflicts(place) or place.conflicts(item) for item in needs)
    far = math.dist(start, goal)
    share = sum((o - s) * (g - s) for o, s, g in zip(other, start, goal, strict=True)) / (far**2 or 1.0)
    share = min(1.0, max(min(1.0, HALF / (far or 1.0)), share))
    off = math.dist(other, [s + (g - s) * share for s, g in zip(start, goal, strict=True)])
    beside = all(abs(o - s) < 2 * HALF for o, s in zip(other, start, strict=True))  # both stand there: it may drive off
    assert meets or beside or off > 2 * HALF - 0.01
    parks = all(abs(o - g) < 2 * HALF + 0.01 for o, g in zip(other, goal, strict=True))  # where the way ends
    assert not meets or parks or off < 2 * HALF + 0.01
    assert not (meets and beside) or math.dist(other, goal) < 4 * HALF

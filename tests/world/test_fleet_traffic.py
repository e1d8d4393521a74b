"""Vehicles in one lane and arms at one table, sent by missions: nobody meets, nobody waits for ever, all have reasons.

All cases are in `tests/proof/test_fleet_traffic.py`. The bodies see nothing of each other: what keeps them apart is the
orchestrator alone, and the judge looks at where they were at every moment.
"""

from __future__ import annotations

import pytest

from worldfs.fleet.mission_reservations import MissionReservations
from worldfs.fleet.reservations import ReservationTable
from worldfs.testing.fleet_traffic import head_on, in_the_way, shared_objects

SWAPS = 1  # the seed of a case whose robots change places, so that one must step aside


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

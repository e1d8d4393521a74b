"""Missions and bids: who gets what, why, and when another robot may go on."""

import math
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.model import Cause, Job, JobState, JobStatus, Operation, Order, Outcome, Profile
from worldfs.fleet.assignment import assign, circular, failed_dependency, handover
from worldfs.fleet.bids import MissionNeeds, RobotOffer, bid, has_ability, is_mobile, ranked
from worldfs.fleet.mission import Mission, MissionOrder, MissionState, MissionStatus

ARM = Profile(
    "Arm", ops=(Operation("pick_up"), Operation("place"), Operation("target_navigation")),
    sensors=(("RGB-D Camera (D435)", True), ("Force-Torque Sensor", False)), max_reach=0.855, max_payload=3.0,
)  # fmt: skip
DOG = Profile("Dog", type="quadruped", ops=(Operation("target_navigation"), Operation("move_to")))
BUTLER = Profile("Butler", type="mobile manipulator", ops=(*ARM.ops,), max_reach=0.8)


ANY = MissionNeeds()


def offer(id, profile=ARM, **more):
    return RobotOffer(id, profile, more.pop("position", (0.0, 0.0, 0.0)), is_mobile(profile), **more)


def mission(id, **more):
    return Mission(MissionOrder(id, f"do {id}", id, created_at=more.pop("at", id), **more))


def decide(missions, robots, needs=ANY, states=None):
    found = assign(missions, robots, lambda one: replace_needs(needs, one), (states or {}).get)
    return {item.mission.id: item for item in found}


def replace_needs(needs, one):
    return needs._replace(robot=one.order.robot)


def test_the_cheapest_robot_gets_it_and_the_reason_names_the_bids_that_it_beat():
    robots = [offer("near", position=(1, 0, 0)), offer("far", DOG, position=(5, 0, 0)), offer("tired", battery=0.1)]
    found = decide([mission("m")], robots, MissionNeeds(frozenset({"target_navigation"}), places=((1.0, 0.5, 0.0),)))[
        "m"
    ]
    assert found.robot == "near"
    assert "far" in found.reason
    assert [item.robot for item in found.bids] == ["near", "far", "tired"]
    assert "10 %" in found.bids[2].refusal


def test_a_queue_that_waits_asks_the_free_robot_and_not_each_one_that_is_at_work(monkeypatch):
    asked = []
    monkeypatch.setattr("worldfs.fleet.bids.bid", lambda needs, robot: asked.append(robot.id) or bid(needs, robot))
    busy = [offer(f"busy{n:03d}", unable="at work") for n in range(100)]
    queued = [mission(f"m{n:03d}") for n in range(100)]
    found = decide(queued, [*busy, offer("dog", DOG)], MissionNeeds(frozenset({"pick_up"})))
    assert len(asked) <= 5 * len(queued)
    assert all(not item.robot and "busy000" in item.reason for item in found.values())
    found = decide(queued[:1], [*busy, offer("arm")], MissionNeeds(frozenset({"pick_up"})))["m000"]
    assert (found.robot, len(found.bids)) == ("arm", 101)


def test_path_time_load_and_battery_are_costs():
    def cost(places=(), **more):
        return bid(MissionNeeds(places=places), offer("dog", DOG, **more)).cost

    assert cost(((10.0, 0.0, 0.0),)) > cost(((1.0, 0.0, 0.0),)) > cost()
    assert cost(load=2) > cost(load=1) > cost()
    assert cost(battery=0.3) > cost(battery=0.9) > cost(battery=1.0) == cost()


def test_a_robot_that_cannot_says_what_is_missing():
    def why(needs, robot):
        found = bid(needs, robot)
        assert math.isinf(found.cost)
        return str(found.refusal)

    assert "pick_up" in why(MissionNeeds(frozenset({"pick_up"})), offer("dog", DOG))
    assert "1.3" in why(MissionNeeds(places=((1.3, 0.0, 0.0),)), offer("arm"))
    assert "3.0" in why(MissionNeeds(mass=4.0), offer("arm"))
    assert "laser" in why(MissionNeeds(abilities=("laser",)), offer("arm"))
    assert "franka" in why(MissionNeeds(robot="franka"), offer("arm"))
    assert "stopped" in why(MissionNeeds(), offer("arm", unable="stopped by operator"))
    assert bid(MissionNeeds(places=((1.3, 0.0, 0.0),)), offer("b", BUTLER)).refusal == ""


def test_words_of_people_are_matched_with_profiles():
    arm, dog, butler = offer("arm"), offer("dog", DOG), offer("butler", BUTLER)
    wanted = {"mobile": "dog butler", "manipulation": "arm butler", "抓取": "arm butler", "移动": "dog butler",
              "rgb camera": "arm", "force torque": "", "pick_up": "arm butler", "Pick up": "arm butler",
              "teleport": ""}  # fmt: skip
    for word, ids in wanted.items():
        assert " ".join(r.id for r in (arm, dog, butler) if has_ability(r, word)) == ids, word
    both = ranked(MissionNeeds(abilities=("mobile", "manipulation")), (arm, dog, butler))
    assert [item.robot for item in both if not item.refusal] == ["butler"]


def test_priority_then_age_and_one_mission_a_robot():
    late, early, urgent = mission("b", at="2"), mission("a", at="1"), mission("c", at="3", priority="high")
    found = decide([late, early, urgent], [offer("r1"), offer("r2")])
    assert {id: item.robot for id, item in found.items()} == {"c": "r1", "a": "r2"}


def test_a_mission_waits_for_what_it_comes_after():
    after = mission("b", after=("a",))
    assert decide([after], [offer("r")], states={"a": MissionState.RUNNING})["b"].robot == ""
    assert "a" in decide([after], [offer("r")], states={"a": MissionState.RUNNING})["b"].reason
    assert decide([after], [offer("r")], states={"a": MissionState.SUCCEEDED})["b"].robot == "r"
    assert failed_dependency(after, {"a": MissionState.FAILED}.get)
    assert failed_dependency(after, {}.get)
    assert not failed_dependency(after, {"a": MissionState.PAUSED}.get)
    assert circular({"a": ["b"], "b": ["c"], "c": ["a"]}, "a") == ["a", "b", "c", "a"]
    assert circular({"a": ["b"], "b": ["c"], "c": ["b"]}, "a") == []


def test_a_robot_that_failed_it_and_one_that_has_not_begun_it_do_not_bid():
    barred = replace(mission("m"), status=MissionStatus(barred=("r1",)))
    assert decide([barred], [offer("r1"), offer("r2")])["m"].robot == "r2"
    kept = replace(mission("m"), status=MissionStatus(robot="r2", kept=True))
    assert decide([kept], [offer("r1"), offer("r2")])["m"].robot == "r2"
    assert decide([kept], [offer("r1")])["m"].robot == ""


def job(state, attempt, cause=None):
    outcome = None if cause is None and state is not JobState.SUCCEEDED else Outcome(cause is None, "", cause)
    return Job(Order("j", "arm", "pick_up"), JobStatus(state, attempt, outcome=outcome))


def test_another_robot_goes_on_only_where_that_is_safe():
    never, always = (lambda job: False), (lambda job: True)
    assert handover(None, never) == ""
    assert handover(job(JobState.PENDING, 0), never) == ""
    assert handover(job(JobState.SUCCEEDED, 1), never) == ""
    assert handover(job(JobState.FAILED, 1, Cause.ERROR), never) == ""
    assert handover(job(JobState.RUNNING, 1), never)
    assert handover(job(JobState.FAILED, 1, Cause.LOST), never)
    assert handover(job(JobState.FAILED, 1, Cause.LOST), always) == ""


ROBOTS = st.lists(
    st.builds(offer, st.sampled_from("abcdef"), st.sampled_from([ARM, DOG, BUTLER]), load=st.integers(0, 3),
              battery=st.none() | st.floats(0, 1), unable=st.sampled_from(["", "", "stopped"])),
    unique_by=lambda robot: robot.id,
)  # fmt: skip
MISSIONS = st.lists(
    st.builds(
        mission, st.sampled_from([f"m{n}" for n in range(8)]), priority=st.sampled_from(["high", "normal", "low"])
    ),
    unique_by=lambda one: one.id,
)
NEEDS = st.tuples(st.frozensets(st.sampled_from(["pick_up", "move_to"])), st.floats(0, 5)).map(
    lambda drawn: MissionNeeds(drawn[0], mass=drawn[1])
)


@given(MISSIONS, ROBOTS, NEEDS)
def test_whatever_bids_no_robot_gets_two_and_none_gets_what_it_cannot_do(missions, robots, needs):
    found = assign(missions, robots, lambda one: needs, {}.get)
    given_to = [item.robot for item in found if item.robot]
    assert len(given_to) == len(set(given_to))
    able = {robot.id: robot for robot in robots}
    for item in found:
        assert item.reason
        if item.robot:
            assert bid(needs, able[item.robot]).refusal == ""
            assert {one.robot for one in item.bids if not one.refusal} <= set(able)
    assert found == assign(list(reversed(missions)), list(reversed(robots)), lambda one: needs, {}.get)

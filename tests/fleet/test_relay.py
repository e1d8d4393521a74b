"""A relay: who takes what, what waits for what, what nobody can do, and how a mission ends that was split into legs."""

from __future__ import annotations

import pytest

from worldfs.base.errors import BadInput
from worldfs.base.model import JobState, RobotState, Scene, Thing
from worldfs.fleet.bids import MissionNeeds
from worldfs.fleet.mission_port import MissionEndKind
from worldfs.fleet.relay import LOAD, RelayLeg, relay

A, B, CART = "arm_1", "arm_2", "cart_1"
FACING = (3.2, 0.0, 0.0, 0.0, 0.0, 3.14)
ROBOTS = (RobotState(A, (0.0, 0.0, 0.0)), RobotState(B, FACING), RobotState(CART, (1.6, 0.0, -0.75)))
BASKET = Thing("basket", category="container", position=(2.75, 0.3, 0.04))


def scene(*here: str, there: tuple[str, ...] = ()) -> Scene:
    things = [Thing(id, position=(0.4, 0.1 * k, 0.0)) for k, id in enumerate(here)]
    things += [Thing(id, position=(2.7, -0.1 * k, 0.0)) for k, id in enumerate(there)]
    return Scene(ROBOTS, tuple(things), (BASKET,))


def test_what_one_arm_reaches_it_moves_itself_while_the_other_loads_the_tray():
    goals = [("a", "basket"), ("b", "basket"), ("c", "basket")]
    assert relay(scene("a", "b", there=("c",)), goals, (A, B), [CART]) == [
        RelayLeg(B, "basket", ("c",)),
        RelayLeg(CART, A),
        RelayLeg(A, "cart_1_tray", ("a", "b"), (1,)),  # no thing is taken before the tray is there
        RelayLeg(CART, B, (), (2,)),  # it does not leave while a hand is above the tray
        RelayLeg(B, "basket", ("a", "b"), (3,)),
    ]


def test_the_carrier_comes_back_for_what_one_trip_does_not_hold():
    ids = tuple("abcdefg"[: LOAD + 1])
    legs = relay(scene(*ids), [(id, "basket") for id in ids], (A, B), [CART])
    docks = [(n, leg) for n, leg in enumerate(legs) if leg.robot == CART]
    assert [leg.place for _, leg in docks] == [A, B, A, B]
    assert docks[2][1].after == (docks[2][0] - 1,) and legs[docks[2][0] - 1].robot == B  # once it is unloaded


@pytest.mark.parametrize(
    ("thing", "container", "carriers", "word"),
    [("a", "nowhere", [CART], "nowhere"), ("far", "basket", [CART], "far"), ("a", "basket", [], "no carrier")],
)
def test_what_nobody_can_do_is_refused_by_name(thing, container, carriers, word):
    far = Thing("far", position=(1.6, 2.0, 0.0))
    known = scene("a")
    with pytest.raises(BadInput, match=word):
        relay(Scene(known.robots, (*known.objects, far), known.furniture), [(thing, container)], (A, B), carriers)


LEGS = [RelayLeg("r1", "tray", ("cup",)), RelayLeg("r2", "box", ("cup",), (0,))]


@pytest.fixture
def split(fleet):
    """A mission that no robot can do alone, split into two legs."""
    fleet.robots.wants["把杯子放进盒子"] = MissionNeeds(frozenset({"fly"}))
    fleet.robots.legs = LEGS
    fleet.add("m1", text="把杯子放进盒子", priority="high")
    fleet.settle()
    return fleet


def test_a_mission_that_no_robot_can_do_becomes_legs_and_ends_by_its_own_goals(split):
    first, second = split.status("m1").legs
    assert [split.files.load(leg).order.text for leg in (first, second)] == [
        "把 cup 放进 tray，然后回家",
        "把 cup 放进 box，然后回家",
    ]
    assert split.files.load(first).priority == "high"
    assert split.robots.begun == [(first, "r1")]
    assert "put cup into tray" in split.status("m1").reason  # in the language of whoever reads it
    split.robots.end(first)
    split.settle()
    assert split.robots.begun[-1] == (second, "r2")
    assert split.state("m1") == "queued"
    split.robots.wants.clear()
    split.robots.end(second)
    split.settle()
    assert split.robots.begun[-1][0] == "m1"  # looks whether its goals hold
    split.robots.end("m1", reason="Nothing to do: the cup is already in the box.")
    split.settle()
    assert split.state("m1") == "succeeded"
    assert split.status("m1").reason == "done by 2 missions of several robots"


def test_a_split_mission_that_had_to_do_the_rest_itself_says_what_it_did(split):
    split.robots.wants.clear()
    for leg in split.status("m1").legs:
        split.robots.end(leg)
        split.settle()
    split.robots.submit("m1", "job_1", JobState.SUCCEEDED)
    split.robots.end("m1", reason="the cup is in the box")
    split.settle()
    assert split.status("m1").reason == "the cup is in the box"


def test_a_mission_fails_with_a_leg_and_is_not_split_again(split):
    first, second = split.status("m1").legs
    split.robots.end(first, MissionEndKind.REFUSED, "the tray is full")
    split.settle()
    assert (split.state("m1"), split.state(second)) == ("failed", "failed")
    assert first in split.status("m1").reason


def test_a_split_mission_is_cancelled_as_a_whole(split):
    first, second = split.status("m1").legs
    split.files.request("m1", "cancel", "operator")
    split.settle()
    assert {split.state(id) for id in ("m1", first, second)} == {"cancelled"}


def test_it_is_split_once_also_where_the_orchestrator_is_killed_in_the_middle(fleet):
    fleet.robots.wants["m1"] = MissionNeeds(frozenset({"fly"}))
    fleet.robots.legs = LEGS
    write, died = fleet.loop.missions.write, []

    def die(mission, *more, **named):
        died.append(mission.id)
        raise KeyboardInterrupt

    fleet.add("m1")
    fleet.loop.missions.write = die
    with pytest.raises(KeyboardInterrupt):
        fleet.loop.step()
    assert died == ["m1"] and write
    fleet.drop()
    fleet.start()
    fleet.settle()
    assert len(fleet.files.open_ids()) == 3
    assert [id for id, _ in fleet.robots.begun] == [fleet.status("m1").legs[0]]


def test_a_robot_that_could_and_is_at_work_is_waited_for(fleet):
    fleet.robots.legs = LEGS
    fleet.add("m1", robot="r1")
    fleet.add("m2", robot="r2")
    fleet.settle()
    fleet.add("m3")
    fleet.settle()
    assert fleet.status("m3").legs == ()


def test_why_not_even_a_relay_is_possible_is_told(fleet):
    fleet.robots.wants["m1"] = MissionNeeds(frozenset({"fly"}))
    fleet.robots.legs = "no carrier brings the cup"
    fleet.add("m1")
    fleet.settle()
    assert fleet.state("m1") == "queued"
    assert "no carrier brings the cup" in fleet.page()

"""Every op's own measure of success says no to a body whose world is otherwise than it was told to be."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from worldfs.base.model import Scene, Thing
from worldfs.robots.mujoco import panda, perception
from worldfs.robots.mujoco.object_placement import PlacementGoal, at_goal

from . import lies
from .conftest import TABLE

CUBE = Thing("cube", shape="box", size=(0.05,) * 3, mass=0.1, position=(0.5, 0.2, 0.0255))
OTHER = Thing("other", shape="box", size=(0.05,) * 3, mass=0.1, position=(0.35, 0.35, 0.0255))
CAN = Thing("can", shape="cylinder", size=(0.05, 0.05, 0.08), mass=0.2, position=(0.5, 0.2, 0.0405))
BAR = Thing("bar", shape="box", size=(0.24, 0.036, 0.04), mass=0.15, position=(0.5, 0.2, 0.0205))
WALL = Thing("wall", shape="box", size=(0.04, 0.2, 0.1), mass=3.0, position=(0.58, -0.05, 0.0505))
PLATE = Thing("plate", shape="box", size=(0.07, 0.07, 0.03), mass=0.5, position=(0.45, -0.05, 0.0155))
DICE = Thing("dice", shape="box", size=(0.016,) * 3, mass=0.01, position=(0.45, -0.02, 0.008))
BRICK = Thing("brick", shape="box", size=(0.04, 0.07, 0.1), mass=0.5, position=(0.5, 0.2, 0.0505))
PEN = Thing("pen", shape="box", size=(0.14, 0.016, 0.016), mass=0.03, position=(0.45, -0.02, 0.008))
SMALL = Thing("basket_01", category="container", position=(0.4, -0.4, 0.045), size=(0.2, 0.25, 0.09), shape="basket")
AT = {"target_position": [0.45, -0.05, 0.0]}
IN = {"target": "basket_01"}


def moved(id: str, way: tuple[float, float, float]) -> lies.Lie:
    return lies.after(id, lambda rig: lies.put(rig, id, rig.position(id) + way))


def driven(id: str, part: int, speed: float) -> lies.Lie:
    """It is kept moving: part 0…2 of its speed (m/s), 3…5 of its turn (rad/s)."""

    def lie(hand: Any) -> None:
        rig = hand.rig
        lies.after(id, lambda _: rig.simulation.data.qvel.__setitem__(rig.dof[id] + part, speed))(hand)

    return lie


def driving(id: str, part: int, speed: float) -> lies.Lie:
    """The same from now on."""

    def lie(hand: Any) -> None:
        lies.always(hand, lambda: hand.rig.simulation.data.qvel.__setitem__(hand.rig.dof[id] + part, speed))

    return lie


PICKS = {
    "gripper jammed open": (lies.jammed_open, "GRASP_MISSED"),
    "gripper jammed shut": (lies.jammed_shut, "OBJECT_LOST"),
    "gripper without power": (lies.limp, "GRASP_MISSED"),
    "arm without power": (lies.unpowered, "GRASP_MISSED"),
    "arm that obeys nobody": (lies.deaf, "GRASP_MISSED"),
    "arm off by 50 mm": (lies.biased(0, 0.1), "GRASP_MISSED"),
    "the thing is gone": (lies.gone("cube"), "GRASP_MISSED"),
    "the thing is nailed down": (lies.nailed("cube"), "OBJECT_LOST"),
    "the thing hangs on something unseen": (lies.weightless("cube"), "NOT_CARRIED"),
    "something unseen bears most of it": (lies.weightless("cube", 0.7), "NOT_CARRIED"),
    "another thing is in the hand": (lies.swapped("cube", "other"), "OBJECT_LOST"),
}


@pytest.mark.slice(6)
@pytest.mark.parametrize("name", PICKS)
def test_no_pick_up_of_a_body_that_lies_succeeds(opened, name):
    lie, code = PICKS[name]
    hand = opened(CUBE, OTHER)
    lie(hand)
    done = hand.do("pick_up", object_id="cube")
    assert not done.ok and done.code == code, done


# What is done by the time that the hand has let go → the code that says so.
PLACES: dict[str, tuple[dict[str, Any], lies.Lie, str]] = {
    "slid aside": (AT, moved("cube", (0.045, 0, 0)), "NOT_AT_GOAL"),
    "dropped beside the table": (AT, moved("cube", (0, 0.7, 0)), "NOT_AT_GOAL"),
    "still turning": (AT, driven("cube", 5, 3.0), "NOT_AT_REST"),
    "still held": (AT, lies.jammed_shut, "NOT_RELEASED"),
    "hung up by something unseen": (
        AT, lies.after("cube", lambda rig: lies.weightless("cube")(Held(rig))), "NOT_SUPPORTED",
    ),
    "outside the basket": (IN, moved("cube", (0, 0.3, 0)), "NOT_IN_CONTAINER"),
    "in the basket, still held": (IN, lies.jammed_shut, "NOT_RELEASED"),
    "arm without power": (AT, lies.unpowered, "NOT_AT_GOAL"),
    "arm that obeys nobody": (IN, lies.deaf, "NOT_IN_CONTAINER"),
    "arm off by 50 mm": (AT, lies.biased(0, 0.1), "NOT_AT_GOAL"),
}  # fmt: skip


class Held:
    """What a lie asks of a hand, for one that has only the rig."""

    def __init__(self, rig: Any) -> None:
        self.rig = rig


@pytest.mark.slice(6)
@pytest.mark.parametrize("name", PLACES)
def test_no_place_of_a_body_that_lies_succeeds(opened, name):
    params, lie, code = PLACES[name]
    hand = opened(CUBE)
    held = hand.do("pick_up", object_id="cube")
    assert held.ok, held
    lie(hand)
    done = hand.do("place", **params)
    assert not done.ok and done.code == code, done


def standing(thing: Thing, *position: float, quat: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)) -> Thing:
    return replace(thing, position=position, orientation=quat)


ON_TABLE = PlacementGoal(np.array([0.45, -0.05, 0.025]), "table_01")
ON_PLATE = PlacementGoal(np.array([0.45, -0.05, 0.0555]), "plate")
IN_BASKET = PlacementGoal(np.array([0.4, -0.4, 0.033]), "basket_01", True)
SIDEWAYS = lies.tipped(math.pi / 2)
# The world as it is left → things, goal, axis that should stand up, a fault that goes on, the code that says so.
WORLDS: dict[str, tuple[tuple[Thing, ...], PlacementGoal, int, lies.Lie | None, str]] = {
    "as it should be": ((standing(CUBE, 0.45, -0.05, 0.0252),), ON_TABLE, 2, None, ""),
    "31 mm off": ((standing(CUBE, 0.45, -0.019, 0.0252),), ON_TABLE, 2, None, "NOT_AT_GOAL"),
    "another stands there": (
        (standing(CUBE, 0.5, 0.2, 0.0252), standing(OTHER, 0.45, -0.05, 0.0252)), ON_TABLE, 2, None, "NOT_AT_GOAL",
    ),
    "sliding": ((standing(CUBE, 0.45, -0.05, 0.0252),), ON_TABLE, 2, driving("cube", 0, 0.05), "NOT_AT_REST"),
    "turning": ((standing(CUBE, 0.45, -0.05, 0.0252),), ON_TABLE, 2, driving("cube", 5, 1.0), "NOT_AT_REST"),
    "fallen over": (
        (standing(CAN, 0.45, -0.05, 0.0252, quat=SIDEWAYS),),
        replace(ON_TABLE, centre=np.array([0.45, -0.05, 0.04])), 2, None, "NOT_UPRIGHT",
    ),
    "on its side": (
        (standing(BRICK, 0.45, -0.05, 0.0352, quat=SIDEWAYS),),
        replace(ON_TABLE, centre=np.array([0.45, -0.05, 0.05])), 2, None, "NOT_UPRIGHT",
    ),
    "leaning on a wall": (
        (standing(BRICK, 0.5, -0.05, 0.0525, quat=lies.tipped(0.5, 1)), WALL),
        replace(ON_TABLE, centre=np.array([0.5, -0.05, 0.05])), 2, None, "NOT_UPRIGHT",
    ),
    "half off what it should be on": (
        (standing(CUBE, 0.472, -0.05, 0.036, quat=lies.tipped(0.33, 1)), standing(DICE, 0.45, -0.05, 0.0081)),
        PlacementGoal(np.array([0.45, -0.05, 0.041]), "dice"), 2, None, "NOT_SUPPORTED",
    ),
    "on something else": (
        (standing(CUBE, 0.45, -0.05, 0.0757), standing(OTHER, 0.45, -0.05, 0.0252), standing(PLATE, 0.3, 0.2, 0.0152)),
        ON_PLATE, 2, None, "NOT_SUPPORTED",
    ),
    "beside it, on the table": (
        (standing(CUBE, 0.45, -0.05, 0.0252), standing(PLATE, 0.3, 0.2, 0.0152)),
        replace(ON_PLATE, centre=np.array([0.45, -0.05, 0.035])), 2, None, "NOT_SUPPORTED",
    ),
    "borne by something unseen": (
        (standing(CUBE, 0.45, -0.05, 0.0252),), ON_TABLE, 2, lies.weightless("cube", 0.8), "NOT_SUPPORTED",
    ),
    "in the basket": ((standing(CUBE, 0.4, -0.4, 0.0332),), IN_BASKET, 2, None, ""),
    "in the basket, any way up": ((standing(CAN, 0.4, -0.4, 0.0332, quat=SIDEWAYS),), IN_BASKET, 2, None, ""),
    "on another in the basket": (
        (standing(CUBE, 0.4, -0.4, 0.0835), standing(OTHER, 0.4, -0.4, 0.0332)), IN_BASKET, 2, None, "",
    ),
    "beside the basket": ((standing(CUBE, 0.4, -0.1, 0.0252),), IN_BASKET, 2, None, "NOT_IN_CONTAINER"),
    "across its rim": ((standing(BAR, 0.4, -0.4, 0.1105),), IN_BASKET, 2, None, "NOT_IN_CONTAINER"),
    "hovering in it": (
        (standing(CUBE, 0.4, -0.4, 0.07),), IN_BASKET, 2, lies.weightless("cube"), "NOT_SUPPORTED",
    ),
    "rolling in it": ((standing(CUBE, 0.4, -0.4, 0.0332),), IN_BASKET, 2, driving("cube", 5, 2.0), "NOT_AT_REST"),
}  # fmt: skip


@pytest.mark.parametrize("name", WORLDS)
def test_the_world_says_whether_a_thing_was_placed(opened, name):
    things, goal, axis, lie, code = WORLDS[name]
    hand = opened(scene=Scene((), things, (TABLE, SMALL)))
    if lie is not None:
        lie(hand)
    found = at_goal(hand.body.arm, things[0].id, goal, axis)
    assert (found.ok, found.code) == (not code, code), found


def test_what_another_bears_a_part_of_is_not_placed_on_the_one_that_was_named(opened):
    hand = opened(BAR, standing(PLATE, 0.4, -0.05, 0.0152), replace(PLATE, id="second", position=(0.53, -0.05, 0.0152)))
    lies.put(hand.rig, "bar", (0.45, -0.05, 0.0502))
    found = at_goal(hand.body.arm, "bar", PlacementGoal(np.array([0.45, -0.05, 0.05]), "plate"), 2)
    assert (found.ok, found.code) == (False, "NOT_SUPPORTED") and "second" in found.message, found
    assert ("bar", "leans_on", "plate") in {(r.subject, r.relation, r.object) for r in hand.body.observe().relations}


@pytest.mark.parametrize(("top", "low"), [(BRICK, DICE), (BRICK, PEN)], ids=["brick on a die", "brick on a pen"])
def test_what_does_not_stand_on_what_was_named_alone_and_upright_is_not_placed(opened, top, low):
    hand = opened(top, low)
    assert hand.do("pick_up", object_id=top.id).ok
    done = hand.do("place", target=low.id)
    assert not done.ok and done.code in ("NOT_SUPPORTED", "NOT_UPRIGHT", "CRITIC_REFUSED"), done
    if done.code == "NOT_SUPPORTED":
        assert "table_01" in done.message and (top.id, "on", low.id) not in {
            (r.subject, r.relation, r.object) for r in hand.body.observe().relations
        }
        assert hand.seen(top.id).status in ("on_several", "on_edge")


MOVES = {
    "without power": (lies.unpowered, "NOT_AT_GOAL"),
    "obeying nobody": (lies.deaf, "NOT_AT_GOAL"),
    "beside its goal": (lies.biased(0, 0.03), "NOT_AT_GOAL"),
    "turned": (lies.biased(6, 0.09), "NOT_AT_GOAL"),
    "shaking": (lies.shaking, "NOT_AT_REST"),
}


@pytest.mark.parametrize("name", MOVES)
def test_no_move_of_a_body_that_lies_succeeds(opened, name):
    lie, code = MOVES[name]
    hand = opened()
    lie(hand)
    done = hand.do("move_to", target_pose=[0.45, 0.1, 0.3])
    assert (done.ok, done.code) == (False, code), done


def test_a_thing_lost_on_a_move_is_no_success(opened):
    hand = opened(CUBE)
    assert hand.do("pick_up", object_id="cube").ok
    lies.jammed_open(hand)
    done = hand.do("move_to", target_pose=[0.45, 0.0, 0.3])
    assert (done.ok, done.code) == (False, "OBJECT_LOST")


STRATEGIES = {
    "home, without power": ("home", lies.unpowered, "NOT_AT_GOAL"),
    "wave, without power": ("wave", lies.unpowered, "NOT_AT_GOAL"),
    "wave, obeying nobody": ("wave", lies.deaf, "NOT_AT_GOAL"),
    "open, jammed": ("open_gripper", lies.fingers(0.01), "BLOCKED"),
    "open, without power": ("open_gripper", lies.limp, "BLOCKED"),
    "close, jammed": ("close_gripper", lies.jammed_open, "BLOCKED"),
    "close, without power": ("close_gripper", lies.limp, "BLOCKED"),
}


@pytest.mark.slice(3)
@pytest.mark.parametrize("name", STRATEGIES)
def test_no_movement_of_a_body_that_lies_succeeds(opened, name):
    strategy, lie, code = STRATEGIES[name]
    hand = opened()
    if strategy == "open_gripper":
        assert hand.do("strategy", name="close_gripper").ok
    if strategy == "home":
        assert hand.do("move_to", target_pose=[0.45, 0.1, 0.3]).ok
    lie(hand)
    done = hand.do("strategy", name=strategy)
    assert (done.ok, done.code) == (False, code), done


def test_fingers_that_touch_a_thing_and_press_on_it_with_nothing_hold_it_not(opened):
    hand = opened(CUBE)
    assert hand.do("pick_up", object_id="cube").ok
    assert hand.do("strategy", name="close_gripper").ok and hand.rig.pressed("cube") > 10
    hand.rig.simulation.model.actuator_forcerange[panda.ARM] = (-0.3, 0.3)
    lies.weightless("cube")(hand)  # else it would fall, and nothing would be touched
    done = hand.do("strategy", name="close_gripper")
    assert (done.ok, done.code) == (False, "BLOCKED") and "the fingers touch cube" in done.message, done


def test_a_sequence_with_a_step_that_lies_is_no_success(opened):
    hand = opened(CUBE)
    lies.limp(hand)
    done = hand.do("strategy", name="pick_and_place", object_id="cube", **AT)
    assert (done.ok, done.code) == (False, "GRASP_MISSED") and "step 1 of 2" in done.message


# --- looking ---


class OldPictures:
    """A camera that shows what it saw long ago."""

    def __init__(self, renderer: Any, data: Any, *cameras: str) -> None:
        self.renderer = renderer
        self.frames = {name: renderer.capture(data, name, depth=True, segments=True) for name in cameras}

    def capture(self, data: Any, camera: str, **wanted: bool) -> Any:
        return self.frames.get(camera) or self.renderer.capture(data, camera, **wanted)


@pytest.fixture
def looking(opened, gl):
    hand = opened(CUBE, OTHER, cameras=True)
    assert hand.do("target_navigation", target_label="cube").ok
    return hand


def look(hand: Any, renderer: Any = None) -> Any:
    from worldfs.robots.mujoco.action_evidence import ActionEvidence

    order = hand.order("target_navigation", target_label="cube")
    return perception.locate(
        hand.body.arm, renderer or hand.body.renderer(), order, ActionEvidence(hand.body.arm, None)
    )


def test_an_old_picture_of_a_thing_that_is_gone_is_no_sight_of_it(looking):
    old = OldPictures(looking.body.renderer(), looking.rig.simulation.data, "front", "wrist")
    lies.put(looking.rig, "cube", (0.4, -0.2, 0.0255))
    looking.body.arm.mover.wait(0.1)
    done = look(looking, old)
    assert (done.ok, done.code) == (False, "NOT_CENTRED") and "points" in done.message
    done = look(looking)
    assert done.ok and done.evidence["source"] == "truth" and "segmentation" in done.evidence["masks"]


def test_a_thing_that_was_there_is_not_seen_where_it_was(looking):
    assert looking.do("strategy", name="home").ok
    old = OldPictures(looking.body.renderer(), looking.rig.simulation.data, "front")
    lies.put(looking.rig, "cube", (0.45, 0.0, -3.0))
    done = look(looking, old)
    assert (done.ok, done.code) == (False, "NOT_SEEN") and "is over cube" in done.message


def test_a_thing_that_is_not_there_is_not_seen(looking):
    lies.put(looking.rig, "cube", (0.45, 0.0, -3.0))
    done = look(looking)
    assert (done.ok, done.code) == (False, "NOT_SEEN")


@pytest.mark.slice(2)
@pytest.mark.parametrize("lie", [lies.unpowered, lies.deaf], ids=["without power", "obeying nobody"])
def test_a_camera_that_does_not_move_centres_nothing(looking, lie):
    assert looking.do("strategy", name="home").ok
    lie(looking)
    done = look(looking)
    assert not done.ok and done.code in ("NOT_CENTRED", "NOT_SEEN")


def test_a_picture_whose_middle_the_thing_never_reaches_is_not_centred(looking, monkeypatch):
    monkeypatch.setattr(perception, "CENTRED", -1.0)  # nothing is ever so near
    done = look(looking)
    assert (done.ok, done.code) == (False, "NOT_CENTRED") and "6 looks" in done.message


def test_no_honest_body_is_called_a_liar(opened):
    hand = opened(CUBE, PLATE, scene=None)
    assert hand.do("pick_up", object_id="cube").ok
    done = hand.do("place", target="plate")
    assert done.ok and done.evidence["carried_by"] == {"plate": 1.0} and done.evidence["source"] == "truth", done
    assert np.isclose(sum(done.evidence["carried_by"].values()), 1.0)

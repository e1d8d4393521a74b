"""ReKep's predicates say no to bodies that lie: on the table each by itself, and at the end of whole programs."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.model import Relation, RobotState, Scene, Skill, Target, Thing
from worldfs.plugins.rekep import rekep_runtime, success_predicates
from worldfs.plugins.rekep.program_executor import ExecutionLimits
from worldfs.plugins.rekep.program_library import ProgramGoal
from worldfs.plugins.rekep.rekep_runtime import ReKepPolicyRuntime
from worldfs.plugins.rekep.step_end_effector import StepEndEffector
from worldfs.plugins.rekep.success_predicates import PourMeasurement, evaluate
from worldfs.plugins.rekep.table_end_effector import TableEndEffector
from worldfs.robots.targets.target_adapter import ActionSpec, StepResult
from worldfs.skills.skill_runtime import SkillContext, SkillRequest

from .. import lies
from .conftest import CAN, CUBE

SIDEWAYS = lies.tipped(math.pi / 2)
ON_TABLE = ProgramGoal("place", "cube_01", "", (0.45, 0.3, 0.025), turn=(1, 0, 0, 0), on="table_01")
CAN_ON_TABLE = replace(ON_TABLE, thing="can_01", at=(0.55, 0.25, 0.05))
IN_BASKET = ProgramGoal("place", "cube_01", "basket_01", on="basket_01")
ON_CAN = ProgramGoal("stack", "cube_01", "can_01", turn=(1, 0, 0, 0), on="can_01")
PICKED = ProgramGoal("pick", "cube_01", start=(0.45, 0.3, 0.025))
STOOD = (0.55, 0.25, 0.1352)  # of the cube on the can


def shim(table: Any) -> Any:
    return SimpleNamespace(rig=table.rig, body=SimpleNamespace(arm=table.target.arm))


def judged(table: Any, goal: ProgramGoal, seen: PourMeasurement | None = None) -> dict[str, bool]:
    return {one.name: one.ok for one in evaluate(goal, TableEndEffector(table.target), seen or PourMeasurement())}


# name → (wish, position, orientation, what goes on, the predicate that says no, "" for none)
WORLDS: dict[str, tuple[ProgramGoal, Any, Any, Any, str]] = {
    "placed": (ON_TABLE, None, None, None, ""),
    "slid aside": (ON_TABLE, (0.45, 0.335, 0.025), None, None, "distance_to_goal"),
    "on something unseen": (ON_TABLE, None, None, lies.weightless("cube_01", 0.8), "carried"),
    "on its side": (CAN_ON_TABLE, (0.55, 0.25, 0.0302), SIDEWAYS, None, "leans_deg"),
    "in the basket": (IN_BASKET, (0.4, -0.4, 0.0332), None, None, ""),
    "beside the basket": (IN_BASKET, (0.4, -0.1, 0.0252), None, None, "inside"),
    "hovering in the basket": (IN_BASKET, (0.4, -0.4, 0.07), None, lies.weightless("cube_01"), "carried"),
    "stacked": (ON_CAN, STOOD, None, None, ""),
    "stacked beside": (ON_CAN, (0.45, 0.3, 0.0252), None, None, "above_m"),
    "stacked askew": (replace(ON_CAN, place="basket_01", on="table_01"), None, None, None, "off_centre_m"),
    "stacked on nothing": (ON_CAN, (0.55, 0.25, 0.16), None, lies.weightless("cube_01"), "carried"),
    "leaning on what it is stacked on": (
        ON_CAN, (0.575, 0.25, 0.12), lies.tipped(0.7, 1), lies.weightless("cube_01"), "leans_deg",
    ),
    "picked, it stands on the table": (PICKED, None, None, None, "held"),
    "picked, it hangs in the air": (PICKED, (0.45, 0.3, 0.2), None, lies.weightless("cube_01"), "carried"),
    "picked, not risen": (PICKED, None, None, None, "risen_m"),
}  # fmt: skip


@pytest.mark.parametrize("name", WORLDS)
def test_the_world_says_whether_a_task_is_done(stand, name):
    goal, position, quat, goes_on, wrong = WORLDS[name]
    table = stand(CUBE, CAN)
    thing = goal.thing
    if position is not None:
        lies.put(table.rig, thing, position, quat)
    if goes_on is not None:
        goes_on(shim(table))
    table.target.arm.mover.wait(0.3 if not goes_on else 0.05)
    found = judged(table, goal)
    assert wrong in [*(word for word, ok in found.items() if not ok), "" if all(found.values()) else "-"], found


def test_what_moves_or_is_still_held_does_not_rest(stand):
    table = stand(CUBE, CAN)
    table.target.arm.mover.wait(0.2)
    table.rig.simulation.data.qvel[table.rig.dof["cube_01"]] = 0.2
    assert [name for name, ok in judged(table, ON_TABLE).items() if not ok] == ["speed_m_s"]
    assert table.do("rekep_pick", object_id="cube_01").ok
    here = tuple(table.rig.position("cube_01"))
    found = judged(table, replace(ON_TABLE, at=here))
    assert not found["touches_robot"] and not found["carried"]


@pytest.mark.slice(5, 1)
@pytest.mark.parametrize(
    ("seen", "wrong"),
    [
        (PourMeasurement(), {"tilt_over_target_deg", "tilted_s"}),
        (PourMeasurement(80.0, 2.0), {"tilt_over_target_deg"}),
        (PourMeasurement(100.0, 0.2), {"tilted_s"}), (PourMeasurement(100.0, 1.0, 90.0), {"tilt_elsewhere_deg"}),
        (PourMeasurement(100.0, 1.0), set()),
    ],
)  # fmt: skip
def test_a_pouring_is_what_was_measured_of_it(stand, seen, wrong):
    table = stand(CUBE, CAN)
    goal = ProgramGoal("pour", "can_01", "basket_01")
    assert {"held", "carried"} <= {name for name, ok in judged(table, goal, seen).items() if not ok}
    assert table.do("rekep_pick", object_id="can_01").ok
    assert {name for name, ok in judged(table, goal, seen).items() if not ok} == wrong


# --- whole programs ---

PROGRAMS = {
    "pick: gripper jammed open": ("rekep_pick", {"object_id": "cube_01"}, lies.jammed_open),
    "pick: gripper without power": ("rekep_pick", {"object_id": "cube_01"}, lies.limp),
    "pick: arm without power": ("rekep_pick", {"object_id": "cube_01"}, lies.unpowered),
    "pick: arm that obeys nobody": ("rekep_pick", {"object_id": "cube_01"}, lies.deaf),
    "pick: it hangs on something unseen": ("rekep_pick", {"object_id": "cube_01"}, lies.weightless("cube_01")),
    "pour: arm without power": ("rekep_pour", {"object_id": "can_01", "target_id": "basket_01"}, lies.unpowered),
}
PLACED = {
    "place: slid aside": ({"target_position": [0.5, -0.1, 0.0]}, (0.045, 0.0, 0.0)),
    "place: beside the basket": ({"target_id": "basket_01"}, (0.0, 0.3, 0.0)),
    "stack: slid off": ({"target_id": "can_01"}, (0.0, 0.1, 0.0)),
}


@pytest.mark.slice(6)
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_program_on_a_body_that_lies_succeeds(stand, name):
    skill, params, lie = PROGRAMS[name]
    table = stand(CUBE, CAN)
    lie(shim(table))
    done = table.do(skill, **params, max_backtracks=1)
    assert not done.ok and done.code, done


@pytest.mark.slice(3)
@pytest.mark.parametrize("name", PLACED)
def test_what_is_moved_after_it_was_let_go_of_is_not_where_it_was_wanted(stand, name):
    params, way = PLACED[name]
    table = stand(CUBE, CAN)
    hand = shim(table)
    lies.after("cube_01", lambda rig: lies.put(rig, "cube_01", rig.position("cube_01") + way))(hand)
    skill = "rekep_stack" if "stack" in name else "rekep_place"
    done = table.do(skill, object_id="cube_01", **params, max_backtracks=0)
    assert not done.ok and done.code == "NOT_DONE", done
    assert not all(one["ok"] for one in done.evidence["success"])


def test_a_program_of_ones_own_that_lets_go_ends_with_a_thing_at_rest(stand):
    text = (
        "num_stages = 2\ngrasp_keypoints = [0, -1]\nrelease_keypoints = [-1, 0]\n\n"
        "def stage1_subgoal_constraint1(end_effector, keypoints):\n"
        "    return np.linalg.norm(end_effector - keypoints[0]) - 0.03\n\n"
        "def stage2_subgoal_constraint1(end_effector, keypoints):\n"
        "    return np.abs(keypoints[0][2] - 0.05) - 0.01\n"
    )
    given = {"program": text, "keypoints": ["cube_01.centre"]}
    assert stand(CUBE).do("x", constraints=given).ok
    table = stand(CUBE)
    rig = table.rig
    held: list[bool] = []

    def kick() -> None:
        if rig.held() == "cube_01":
            held.append(True)
        elif held:
            rig.simulation.data.qvel[rig.dof["cube_01"]] = 0.1

    lies.always(shim(table), kick, 5)
    done = table.do("x", constraints=given, max_backtracks=0)
    assert not done.ok and "speed_m_s" in done.message, done


def test_a_program_of_ones_own_is_done_when_its_last_subgoals_hold_and_the_hand_holds_what_it_should(stand):
    table = stand(CUBE)
    text = (
        "num_stages = 2\ngrasp_keypoints = [0, -1]\nrelease_keypoints = [-1, -1]\n\n"
        "def stage1_subgoal_constraint1(end_effector, keypoints):\n"
        "    return np.linalg.norm(end_effector - keypoints[0]) - 0.03\n\n"
        "def stage2_subgoal_constraint1(end_effector, keypoints):\n"
        "    return 0.2 - keypoints[0][2]\n"
    )
    hand = TableEndEffector(table.target)
    planned = rekep_runtime._planned(
        table.request("x", constraints={"program": text, "keypoints": ["cube_01.centre"]}), hand
    )

    def wrong() -> list[str]:
        found = rekep_runtime._generic(SimpleNamespace(effector=hand), planned, ExecutionLimits())  # type: ignore[arg-type]  # all it asks of a course
        return [one.name for one in found if not one.ok]

    assert wrong() == ["stage2_subgoal_constraint1", "held"]
    assert table.do("rekep_pick", object_id="cube_01").ok
    assert wrong() == ["stage2_subgoal_constraint1"]
    lies.put(table.rig, "cube_01", (0.45, 0.1, 0.3))
    assert wrong() == ["held"]


def test_what_else_was_moved_is_told_and_a_thing_under_others_is_not_taken(stand):
    above = replace(CUBE, id="above", position=(0.45, 0.3, 0.0757))
    table = stand(CUBE, above, CAN)
    (finding,) = table.review("rekep_pick", object_id="cube_01")
    assert "above rests on it" in finding.found and not table.do("rekep_pick", object_id="cube_01").ok
    lies.after("above", lambda rig: lies.put(rig, "can_01", (0.6, 0.1, 0.0552)))(shim(table))
    done = table.do("rekep_place", object_id="above", target_position=[0.5, -0.1, 0.0])
    assert done.ok and [line["id"] for line in done.evidence["also_moved"]] == ["can_01"], done
    assert "also moved: can_01" in done.message and done.evidence["source"] == "truth"


# --- a robot that sees nothing ---

PAGE = Scene((RobotState("arm"),), (replace(CUBE, position=(0.5, 0.0, 0.1)),), ())


class Arm:
    """A robot without eyes on the port of targets: it is where it is told to be, and its fingers stop at the cube."""

    def __init__(self, lie: str = "") -> None:
        self.target, self.lie = Target("arm", "real_robot"), lie
        self.pose = np.array([0.4, 0.0, 0.4, 0.0, 1.0, 0.0, 0.0])
        self.width = {"half open": 0.03, "open": 0.08, "as wide as the cube": 0.05}.get(lie, 0.08)
        self.jammed = lie in ("half open", "open", "as wide as the cube")

    def actions(self) -> list[ActionSpec]:
        return [ActionSpec("ee_pose", (8,), control_hz=20.0)]

    def observe(self) -> dict[str, Any]:
        return {"ee_pose": self.pose.copy(), "gripper": np.array([self.width])}

    def scene(self) -> Scene:
        return Scene((RobotState("arm"),))

    def step(self, action: Any, representation: str) -> StepResult:
        if self.lie != "stands":
            self.pose = np.array(action[:7])
        if not self.jammed:
            least = {"echo": 0.0, "missed": 0.0, "stopped by something thinner": 0.025}.get(self.lie, 0.05)
            self.width = max(0.08 * float(action[7]), least)
        return StepResult(self.observe())


def led(arm: Arm, tmp_path: Any, skill: str = "rekep_pick", **params: Any) -> Any:
    page = (
        '```json\n{"robots": [{"robot_id": "arm"}], "objects": [{"id": "cube_01", "position": [0.5, 0.0, 0.1], '
        '"size": [0.05, 0.05, 0.05], "shape": "box"}, {"id": "table_01", "category": "furniture", "shape": "table", '
        '"position": [0.45, 0.0, 0.07], "size": [0.9, 1.2, 0.75]}]}\n```\n'
    )
    (tmp_path / "ENVIRONMENT.md").write_text(page)
    request = SkillRequest("j", Skill(skill, "ReKepPolicyRuntime"),
                           {"object_id": "cube_01", "max_backtracks": 0, **params}, home=tmp_path)  # fmt: skip
    clock = SystemClock()
    return ReKepPolicyRuntime().perform(request, SkillContext(arm, None, Run(clock, clock.monotonic() + 60)))  # type: ignore[arg-type]  # as much of the port as is asked


def test_fingers_that_stop_at_a_thing_as_wide_as_it_hold_it(tmp_path):
    done = led(Arm(), tmp_path)
    assert done.ok and done.evidence["source"] == "page", done


LYING = ("half open", "open", "as wide as the cube", "stopped by something thinner", "echo", "missed", "stands")


@pytest.mark.parametrize("lie", LYING)
def test_no_robot_that_lies_has_picked_anything(tmp_path, lie):
    done = led(Arm(lie), tmp_path)
    assert not done.ok and done.code in ("GRASP_MISSED", "CRITIC_REFUSED", "NOT_DONE", "SUBGOAL_NOT_REACHED"), done


def test_what_nobody_sees_is_not_measured(tmp_path):
    done = led(Arm(), tmp_path, "rekep_place", target_id="table_01")
    assert (done.ok, done.code) == (False, "NOT_MEASURED"), done


# --- a target that shows a scene ---


class Shown(Arm):
    """It shows where the cube is, and what it rests on."""

    def __init__(self, thing: Thing, *relations: Relation) -> None:
        super().__init__()
        self.things, self.relations = (thing,), relations

    def scene(self) -> Scene:
        return Scene((RobotState("arm", gripper="open"),), self.things, (), self.relations)


@pytest.mark.parametrize(
    ("relations", "ok"),
    [
        ((Relation("cube_01", "on", "table_01"),), True), ((Relation("cube_01", "on", "other"),), False),
        ((Relation("cube_01", "leans_on", "table_01"),), False), ((), True),
    ],
)  # fmt: skip
def test_what_a_scene_says_of_supports_counts(relations, ok):
    hand = StepEndEffector(Shown(CUBE, *relations))  # type: ignore[arg-type]  # same
    assert all(one.ok for one in success_predicates.carried("cube_01", "table_01", hand)) is ok


def test_one_look_tells_no_speed_and_two_do():
    arm = Shown(CUBE)
    hand = StepEndEffector(arm)  # type: ignore[arg-type]  # same
    assert hand.measure("cube_01").speed == math.inf
    hand.wait(0.1)
    assert hand.measure("cube_01").speed == 0.0
    arm.things = (replace(CUBE, position=(0.5, 0.3, 0.0255)),)
    hand.wait(0.1)
    moving = hand.measure("cube_01").speed
    assert moving > 0.3 and hand.measure("cube_01").speed == moving  # no time has passed: it moves as it did

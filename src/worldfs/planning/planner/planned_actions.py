"""The actions of a robot as a plan uses them: op, page-form parameters, preconditions and effects."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from worldfs.base.json_text import parse_json
from worldfs.base.meeting_points import POINTS
from worldfs.base.model import Json, Profile, Vec

from .goals import AtGoal, GestureGoal, Goal, GripperGoal, HomeGoal, OperationGoal, SeenGoal, VisitGoal
from .scene_facts import UNKNOWN_LOCATION, ThingLocation

PICK, PLACE, LOOK, MOVE, STRATEGY = "pick_up", "place", "target_navigation", "move_to", "strategy"
PUSH, UPRIGHT, NUDGE = "push", "upright", "nudge"
OPEN_FIXTURE, CLOSE_FIXTURE, POUR = "open_fixture", "close_fixture", "pour"
HAND_OVER, TAKE_OVER = "hand_over", "take_over"

# words of a profile's type that say that the robot itself goes from place to place
_MOBILE: Final = ("quadruped", "legged", "mobile", "wheeled", "四足", "足式", "移动", "轮式")


@dataclass(frozen=True, slots=True)
class PlannedAction:
    """One order to come. `object` is the thing handled; `to` its place afterwards; `stage` the goal group it serves."""

    op: str
    params: Json
    object: str = ""
    to: ThingLocation = UNKNOWN_LOCATION
    final: bool = True  # False: only set aside
    stage: int = 0
    visit: bool = False  # the robot itself goes to `object`
    node: str = ""  # "": of the robot that is planned for
    partner: str = ""  # another robot that is ordered to take `object` over at the same time

    @property
    def sign(self) -> tuple[str, str, ThingLocation]:
        """The identity of a step of a plan, independent of the exact placement."""
        return (self.op, self.object or str(sorted(self.params.items())), self.to)


def supports_op(profile: Profile | None, op: str) -> bool:
    """Whether the profile has the op; without a readable list, admission decides."""
    return profile is None or not profile.ops or profile.op(op) is not None


def goes_to_places(profile: Profile | None) -> bool:
    """Whether the robot itself goes where it is sent: its type says so, or it navigates and neither grasps nor has a
    reach. An arm moves its gripper there."""
    if profile is None or profile.op(LOOK) is None:
        return False
    if any(word in profile.type.casefold() for word in _MOBILE):
        return True
    return not profile.type and profile.max_reach is None and profile.op(PICK) is None


def pick_action(id: str, robot_id: str, profile: Profile | None = None, stage: int = 0) -> PlannedAction:
    """Needs an empty gripper and nothing on top of the thing; afterwards it is held."""
    return PlannedAction(
        PICK, {_name(profile, PICK, "object_id", "target"): id}, id, ThingLocation("held", robot_id), True, stage
    )


def place_action(id: str, spot: Vec, to: ThingLocation, *, final: bool, named: bool, stage: int = 0) -> PlannedAction:
    """Needs the thing in the gripper; `target` names what it goes in or on, for drivers that use names."""
    params: Json = {"target_position": [float(v) for v in spot]}
    if named:
        params["target"] = to.of
    return PlannedAction(PLACE, params, id, to, final, stage)


def push_action(id: str, way: Vec, metres: float, stage: int = 0) -> PlannedAction:
    """`way`: a unit vector in the plane of the world."""
    params: Json = {"object_id": id, "direction": [round(v, 4) for v in way], "distance": round(metres, 4)}
    return PlannedAction(PUSH, params, id, stage=stage)


def upright_action(id: str, stage: int = 0) -> PlannedAction:
    return PlannedAction(UPRIGHT, {"object_id": id}, id, stage=stage)


def fixture_action(id: str, state: str, stage: int = 0) -> PlannedAction:
    """`state`: open | closed, as it is to be."""
    op = OPEN_FIXTURE if state == "open" else CLOSE_FIXTURE
    return PlannedAction(op, {"object_id": id}, id, stage=stage)


def pour_action(id: str, into: str, stage: int = 0) -> PlannedAction:
    """Takes the vessel, and sets it back empty."""
    return PlannedAction(POUR, {"object_id": id, "target": into}, id, stage=stage)


def hand_over_action(id: str, robot: str, points: Sequence[Vec] = (), stage: int = 0) -> PlannedAction:
    """Needs the thing in the gripper; the other robot is ordered to take it over meanwhile. `points`: where they may
    meet (m, world frame); () for anywhere between them."""
    params: Json = {"to": robot, POINTS: [list(point) for point in points]} if points else {"to": robot}
    return PlannedAction(HAND_OVER, params, id, ThingLocation("held", robot), stage=stage, partner=robot)


def companion(action: PlannedAction) -> tuple[PlannedAction, ...]:
    """What another robot is ordered to do at the same time: nothing, or one action."""
    if not action.partner:
        return ()
    params: Json = {
        "object_id": action.object,
        **{name: value for name, value in action.params.items() if name == POINTS},
    }
    return (PlannedAction(TAKE_OVER, params, action.object, stage=action.stage, node=action.partner),)


def nudge_action(id: str, leave: Collection[str] = (), stage: int = 0) -> PlannedAction:
    """`leave`: what must not be pushed."""
    return PlannedAction(NUDGE, {"object_id": id, "leave": sorted(leave)}, id, stage=stage)


def look_action(id: str, stage: int = 0) -> PlannedAction:
    return PlannedAction(LOOK, {"target_label": id}, id, stage=stage)


def visit_action(id: str, stage: int = 0) -> PlannedAction:
    return PlannedAction(LOOK, {"target_label": id}, id, stage=stage, visit=True)


def walk_action(position: Vec, stage: int = 0) -> PlannedAction:
    """To a place on the floor, turned as it comes."""
    return PlannedAction(MOVE, {"target_pose": [float(v) for v in position[:3]]}, stage=stage)


def move_action(position: Vec, base: Vec = (), stage: int = 0) -> PlannedAction:
    """The tool points at the floor and, seen from above, away from the base: there an arm's wrist is least turned."""
    x, y, z = (float(v) for v in position[:3])
    away = math.atan2(y - base[1], x - base[0]) if len(base) >= 2 else 0.0
    return PlannedAction(MOVE, {"target_pose": [x, y, z, round(math.pi, 4), 0.0, round(away, 4)]}, stage=stage)


def strategy_action(name: str, stage: int = 0) -> PlannedAction:
    return PlannedAction(STRATEGY, {"name": name}, stage=stage)


def profile_parameters(action: PlannedAction, profile: Profile | None) -> Json:
    """Its parameters as the robot's profile row has them: q1's place says `target` and `location` (workspace §3.2)."""
    row = profile.op(action.op) if profile is not None else None
    known = {p.name for p in row.parameters} if row is not None else set()
    if action.op == PLACE and "location" in known and "target_position" not in known and action.to.of:
        return {"target": action.object, "location": action.to.of}
    return action.params


def _name(profile: Profile | None, op: str, page: str, other: str) -> str:
    """The page's parameter name, unless the robot's profile row has only the other dialect's (workspace §3.2)."""
    row = profile.op(op) if profile is not None else None
    known = {p.name for p in row.parameters} if row is not None else set()
    return other if other in known and page not in known else page


def serves(action: PlannedAction, goal: Goal) -> bool:
    """Whether the action achieves this goal of the robot's pose."""
    if isinstance(goal, OperationGoal):
        return action.op == goal.name and action.params == parse_json(goal.params)
    if action.op == STRATEGY:
        name = str(action.params.get("name", ""))
        if isinstance(goal, HomeGoal):
            return name == "home"
        if isinstance(goal, GripperGoal):
            return name in ("open_gripper", "close_gripper")
        return name == (goal.name if isinstance(goal, GestureGoal) else "")
    if action.op == LOOK:
        return isinstance(goal, (SeenGoal, VisitGoal)) and goal.object == action.object
    return action.op == MOVE and isinstance(goal, AtGoal)

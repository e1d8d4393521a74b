"""The actions of a body as a plan uses them: op, page-form parameters, what they need and what they bring about."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...ground.model import Json, Profile, Vec
from .facts import NOWHERE, Where

PICK, PLACE, LOOK, MOVE, STRATEGY = "pick_up", "place", "target_navigation", "move_to", "strategy"


@dataclass(frozen=True, slots=True)
class Action:
    """One order to come. `object` is the thing handled; `to` its place afterwards; `stage` the goal group it serves."""

    op: str
    params: Json
    object: str = ""
    to: Where = NOWHERE
    final: bool = True  # False: only set aside
    stage: int = 0

    @property
    def sign(self) -> tuple[str, str, Where]:
        """What makes two actions the same step of a plan, wherever exactly they put a thing."""
        return (self.op, self.object or str(sorted(self.params.items())), self.to)


def has(profile: Profile | None, op: str) -> bool:
    """Without a readable list of actions in the profile, admission decides."""
    return profile is None or not profile.ops or profile.op(op) is not None


def pick(id: str, robot_id: str, profile: Profile | None = None, stage: int = 0) -> Action:
    """Needs an empty gripper and nothing on top of the thing; afterwards it is held."""
    return Action(PICK, {_name(profile, PICK, "object_id", "target"): id}, id, Where("held", robot_id), True, stage)


def put(id: str, spot: Vec, to: Where, *, final: bool, named: bool, stage: int = 0) -> Action:
    """Needs the thing in the gripper; `target` names what it goes in or on, for bodies that know things."""
    params: Json = {"target_position": [float(v) for v in spot]}
    if named:
        params["target"] = to.of
    return Action(PLACE, params, id, to, final, stage)


def look(id: str, stage: int = 0) -> Action:
    return Action(LOOK, {"target_label": id}, id, stage=stage)


def go(position: Vec, base: Vec = (), stage: int = 0) -> Action:
    """The tool points at the floor and, seen from above, away from the base: there an arm's wrist is least turned."""
    x, y, z = (float(v) for v in position[:3])
    away = math.atan2(y - base[1], x - base[0]) if len(base) >= 2 else 0.0
    return Action(MOVE, {"target_pose": [x, y, z, round(math.pi, 4), 0.0, round(away, 4)]}, stage=stage)


def strategy(name: str, stage: int = 0) -> Action:
    return Action(STRATEGY, {"name": name}, stage=stage)


def spelled(action: Action, profile: Profile | None) -> Json:
    """Its parameters as the body's profile row has them: q1's place says `target` and `location` (workspace §3.2)."""
    row = profile.op(action.op) if profile is not None else None
    known = {p.name for p in row.parameters} if row is not None else set()
    if action.op == PLACE and "location" in known and "target_position" not in known and action.to.of:
        return {"target": action.object, "location": action.to.of}
    return action.params


def _name(profile: Profile | None, op: str, page: str, other: str) -> str:
    """The page's parameter name, unless the body's profile row has only the other dialect's (workspace §3.2)."""
    row = profile.op(op) if profile is not None else None
    known = {p.name for p in row.parameters} if row is not None else set()
    return other if other in known and page not in known else page

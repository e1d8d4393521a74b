"""Feasibility of a planned action: the critic's checks, in the predicted scene."""

from __future__ import annotations

from worldfs.base.model import Order, Profile, Scene
from worldfs.planning.critic import Critic

from . import failure_reasons, planned_actions
from .planned_actions import PlannedAction


def critic_refusal(action: PlannedAction, robot_id: str, scene: Scene, profile: Profile | None) -> str:
    """Why the critic would refuse it, one clause; "" if it would not. Without a readable profile admission decides."""
    return "" if profile is None or not profile.ops else _refusal(action, robot_id, scene, profile)


def partner_refusal(action: PlannedAction, scene: Scene, profile: Profile | None) -> str:
    """The same of what another robot is to do. Without a readable profile it is refused: when that robot's order is
    admitted, the first robot has already moved."""
    return _refusal(action, action.node, scene, profile)


def _refusal(action: PlannedAction, robot_id: str, scene: Scene, profile: Profile | None) -> str:
    order = Order("plan", robot_id, action.op, planned_actions.profile_parameters(action, profile), asker="planner")
    refused = [f for f in Critic().review(order, scene, profile) if not f.warning]
    return failure_reasons.finding_reason(refused[0]) if refused else ""

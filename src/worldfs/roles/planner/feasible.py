"""Whether a planned action can be carried out: the critic's own checks, in the scene as it will be by then."""

from __future__ import annotations

from ...ground.model import Order, Profile, Scene
from ..critic import Critic
from . import failure_reasons, planned_actions
from .planned_actions import PlannedAction


def critic_refusal(action: PlannedAction, robot_id: str, scene: Scene, profile: Profile | None, language: str) -> str:
    """Why the critic would refuse it, one clause; "" for nothing. Without a readable profile admission decides."""
    if profile is None or not profile.ops:
        return ""
    order = Order("plan", robot_id, action.op, planned_actions.profile_parameters(action, profile), asker="planner")
    refused = [f for f in Critic(language).review(order, scene, profile) if not f.warning]
    return failure_reasons.finding_reason(refused[0], language == "zh") if refused else ""

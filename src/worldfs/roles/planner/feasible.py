"""Whether a planned action can be carried out: the critic's own checks, in the scene as it will be by then."""

from __future__ import annotations

from ...ground.model import Order, Profile, Scene
from ..critic import Critic
from . import domain, reasons
from .domain import Action


def refusal(action: Action, robot_id: str, scene: Scene, profile: Profile | None, language: str) -> str:
    """Why the critic would refuse it, one clause; "" for nothing. Without a readable profile admission decides."""
    if profile is None or not profile.ops:
        return ""
    order = Order("plan", robot_id, action.op, domain.spelled(action, profile), asker="planner")
    refused = [f for f in Critic(language).review(order, scene, profile) if not f.warning]
    return reasons.of_finding(refused[0], language == "zh") if refused else ""

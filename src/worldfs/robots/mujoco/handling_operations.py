"""Handling beyond pick and place: each operation with its review, which moves nothing, and its motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from worldfs.base.messages import coded
from worldfs.base.model import Finding, Order, Outcome
from worldfs.base.standard_operations import (
    CLOSE_FIXTURE,
    HAND_OVER,
    NUDGE,
    OPEN_FIXTURE,
    PLACE_BESIDE,
    POUR,
    PUSH,
    STACK,
    TAKE_OVER,
    UPRIGHT,
    WIPE,
)

from .action_evidence import ActionEvidence
from .arm import Arm
from .fixtures import close_fixture, open_fixture, plan_close, plan_open
from .hand_over import hand_over, plan_offer, review_take, take_over
from .nudge import nudge, plan_nudge
from .place_beside import place_beside, plan_beside
from .pour import plan_pour, pour
from .push import plan_push, push
from .stack import plan_stack, stack
from .upright import plan_upright, upright
from .wipe import plan_wipe, wipe

BY_CAMERA: Final = frozenset(
    op.name for op in (PLACE_BESIDE, PUSH, NUDGE, UPRIGHT, STACK, WIPE, OPEN_FIXTURE, CLOSE_FIXTURE)
)  # by what was seen


def by_truth(order: Order) -> Finding:
    """The refusal of a body that goes by its cameras: the other motions are led by the world's own state, which it does
    not see."""
    return Finding(
        "CRITIC_REFUSED",
        "EMBODIED.md Perception",
        coded("handling.truth"),
        coded("handling.camera", op=order.op),
        coded("handling.use_truth"),
        order.id,
    )


Review = Callable[[Arm, Order], object]  # a `Finding`, or anything else for an order that can be carried out
Act = Callable[[Arm, Order, ActionEvidence], Outcome]

HANDLING_ACTS: Final[dict[str, tuple[Review, Act]]] = {
    PLACE_BESIDE.name: (plan_beside, place_beside),
    PUSH.name: (plan_push, push),
    NUDGE.name: (plan_nudge, nudge),
    UPRIGHT.name: (plan_upright, upright),
    STACK.name: (plan_stack, stack),
    POUR.name: (plan_pour, pour),
    HAND_OVER.name: (plan_offer, hand_over),
    TAKE_OVER.name: (review_take, take_over),
    WIPE.name: (plan_wipe, wipe),
    OPEN_FIXTURE.name: (plan_open, open_fixture),
    CLOSE_FIXTURE.name: (plan_close, close_fixture),
}

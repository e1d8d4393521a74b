"""Handling as it was seen: what the cameras show of a push, a turn, a tower or a thing set beside another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Final

import numpy as np

from worldfs.base.json_values import as_float, as_floats, as_list, as_object
from worldfs.base.model import Finding, Json, Order
from worldfs.base.standard_operations import (
    CLOSE_FIXTURE,
    NUDGE,
    OPEN_FIXTURE,
    PLACE_BESIDE,
    PUSH,
    STACK,
    UPRIGHT,
    WIPE,
)
from worldfs.robots.orientation import FLAT

from . import fixture_model, place_beside, support
from .action_evidence import ActionEvidence, rounded
from .arm import Arm
from .scene_belief import SceneBelief
from .upright import STANDING

SLACK: Final = 0.004  # m that an estimate may be off beside what the action may be


def _pushed(arm: Arm, belief: SceneBelief, order: Order, action_evidence: ActionEvidence) -> Json:
    goal = as_object(action_evidence.more.get("goal"))
    id = str(goal.get("id", ""))
    if id not in belief.tracks or belief.tracks[id].stale:
        return {"position": None, "done": None} if goal else {}
    off, way = arm.rig.position(id)[:2] - as_floats(goal["position"]), np.array(as_floats(goal["way"]))
    along, across = abs(float(off @ way)), abs(float(off[0] * way[1] - off[1] * way[0]))
    limit = as_float(action_evidence.more["limit_m"]) + SLACK
    return {
        "position": rounded(arm.rig.position(id)), "away_m": round(float(np.linalg.norm(off)), 4),
        "done": max(along, across) <= limit,
    }  # fmt: skip


def _upright(arm: Arm, belief: SceneBelief, order: Order, action_evidence: ActionEvidence) -> Json:
    id = action_evidence.thing
    if id is None or belief.tracks[id].stale:
        return {"lean_rad": None, "done": None}
    tilt = support.lean(arm.rig, id, STANDING)
    return {"lean_rad": round(tilt, 3), "done": arm.rig.held() != id and tilt <= FLAT}


def _stacked(arm: Arm, belief: SceneBelief, order: Order, action_evidence: ActionEvidence) -> Json:
    rig, ids = arm.rig, [str(id) for id in as_list(order.params.get("object_ids"))]
    if any(id not in belief.tracks or belief.tracks[id].stale for id in ids):
        return {"levels": None, "done": None}
    level = 1
    for low, up in pairwise(ids):
        apart = rig.position(up) - rig.position(low)
        above = float(apart[2]) - float(rig.half(up)[2] + rig.half(low)[2])
        if abs(above) > 2 * SLACK or np.any(np.abs(apart[:2]) > rig.half(low)[:2]):
            break
        level += 1
    return {"levels": level, "done": level == len(ids)}


def _beside(arm: Arm, belief: SceneBelief, order: Order, action_evidence: ActionEvidence) -> Json:
    id = action_evidence.thing
    goal = place_beside.relative_to(arm, order, id) if id is not None else None
    if goal is None or isinstance(goal, Finding) or "space" not in action_evidence.more:
        return {}
    if belief.tracks[goal.thing].stale or belief.tracks[goal.other].stale or arm.rig.held() == goal.thing:
        return {"gap_m": None, "done": None}
    gap, across = place_beside.space(arm, goal)
    return {"gap_m": round(gap, 4), "done": max(abs(gap - goal.gap), across) <= goal.off + SLACK}


def _wiped(arm: Arm, belief: SceneBelief, order: Order, action_evidence: ActionEvidence) -> Json:
    """No picture shows what was touched; the sponge, put back, is seen."""
    id = action_evidence.thing
    if id is None or belief.tracks[id].stale:
        return {"position": None, "done": None}
    return {"position": rounded(arm.rig.position(id)), "done": False if arm.rig.held() == id else None}


def _led(arm: Arm, belief: SceneBelief, order: Order, action_evidence: ActionEvidence) -> Json:
    """How far it is open, by a picture since: the hand has risen from the knob and looks down on it."""
    goal = as_object(action_evidence.more.get("opening"))
    id = str(goal.get("id", ""))
    seen = belief.rig.openings.get(id)
    if seen is None or seen.time < float(arm.simulation.data.time):
        return {"opening": None, "done": None} if goal else {}
    state = fixture_model.state(arm.rig.things[id], seen.opening)
    return {
        "opening": round(seen.opening, 4), "share": round(seen.share, 2), "by": seen.camera,
        "done": state == (fixture_model.OPEN if order.op == OPEN_FIXTURE.name else fixture_model.CLOSED),
    }  # fmt: skip


SEEN_AFTER: Final[Mapping[str, Callable[[Arm, SceneBelief, Order, ActionEvidence], Json]]] = {
    PUSH.name: _pushed, NUDGE.name: _pushed, UPRIGHT.name: _upright, STACK.name: _stacked, PLACE_BESIDE.name: _beside,
    WIPE.name: _wiped, OPEN_FIXTURE.name: _led, CLOSE_FIXTURE.name: _led,
}  # fmt: skip

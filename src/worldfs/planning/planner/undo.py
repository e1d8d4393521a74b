"""Undo: goals that put back what the last instruction moved, and what of it cannot be put back."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from worldfs.base.hollows import opens
from worldfs.base.messages import CodedText, coded
from worldfs.base.model import Scene, Thing, Vec
from worldfs.base.stated_places import lacks_holder

from . import thing_names
from .goals import PLACED_M, Goal, InGoal, OnGoal, OpenedGoal
from .scene_facts import NEAR_M, ThingLocation, height, immovable_ids, inside, layout, settled_at, told_location, top

SAME_PLACE_M = 0.01  # a thing that moved no farther was not taken away; a neighbour may bear it now


def undo_goals(
    before: Scene, scene: Scene, only: Sequence[str] | None = None
) -> tuple[list[Goal], dict[str, CodedText]]:
    """Goals for every thing that is not where it was, or not as far open, and the ids of those that cannot come back,
    each with the reason. Of `only`, where that is given."""
    was, now = layout(before), layout(scene)
    found: list[Goal] = []
    lost: dict[str, CodedText] = {}
    for piece in before.furniture:
        found_now = scene.thing(piece.id)
        if found_now is None or found_now.status == piece.status or (only is not None and piece.id not in only):
            continue
        if piece.status in ("open", "closed"):
            found.append(OpenedGoal(piece.id, piece.status))
        elif piece.status == "ajar":
            lost[piece.id] = coded("planner.was_ajar")
    moved = [id for id in was if (only is None or id in only) and not _is_back(id, before, scene, was, now)]
    for id in moved:
        if why := _lost(id, before, scene, was, moved):
            lost[id] = why
            continue
        spot, thing = was[id], before.thing(id)
        under = before.thing(spot.of)
        at = _point(thing) if under is None or not opens(under) or spot.relation == "on" else ()
        found.append(InGoal(id, spot.of, at) if spot.relation == "in" else OnGoal(id, spot.of, at))
    return found, lost


def _is_back(
    id: str, before: Scene, scene: Scene, was: Mapping[str, ThingLocation], now: Mapping[str, ThingLocation]
) -> bool:
    old, new = before.thing(id), scene.thing(id)
    if id not in now or old is None or new is None:
        return False
    if was[id] != now[id] and not (
        settled_at(was, id) == settled_at(now, id) and math.dist(old.position, new.position) <= SAME_PLACE_M
    ):
        return False
    return not max(abs(a - b) for a, b in zip(old.position[:2], new.position[:2], strict=True)) > PLACED_M


def _lost(
    id: str, before: Scene, scene: Scene, was: Mapping[str, ThingLocation], moved: Collection[str]
) -> CodedText | None:
    """Why a thing cannot come back; None where it can, as far as its place before tells."""
    spot, thing, under = was[id], before.thing(id), before.thing(was[id].of)
    if thing is None or scene.thing(id) is None:
        return coded("planner.gone_now")
    if spot.relation == "held":
        return coded("planner.was_held")
    if gone := next((r.object for r in before.relations if r.subject == id and lacks_holder(r, before)), ""):
        return coded("planner.gone", name=thing_names.named(gone, scene))
    if spot.relation not in ("in", "on"):
        return coded("planner.was_unknown")
    name = thing_names.named(spot.of, scene)
    if under is None:
        return coded("planner.gone", name=name)
    if spot.relation == "in" and opens(under):
        return None  # what is in a drawer has moved with it
    if told_location(id, before, was) != spot:  # it lay in a cup
        return coded("planner.was_in_cup", name=name)
    fixed, there = spot.of in immovable_ids(before), scene.thing(spot.of)
    if (at := _point(thing)) and not _bore(under, thing, at, spot.relation, fixed=fixed):
        return coded("planner.not_there_now", name=name)
    if spot.of in moved:
        back = not _lost(spot.of, before, scene, was, moved)
    else:
        back = there is not None and not math.dist(under.position[:2], there.position[:2]) > PLACED_M
    return None if back else coded("planner.not_there_now", name=name)


def _bore(under: Thing, thing: Thing, at: Vec, relation: str, *, fixed: bool) -> bool:
    """Whether the support is where it must have been to bear the thing. Without measures it is taken to be there."""
    if len(under.size) < 2 or not _point(under):
        return True
    level = relation == "in" or fixed or abs(at[2] - height(thing) / 2 - top(under)) <= NEAR_M
    return level and inside(under, *at[:2])


def _point(thing: Thing | None) -> Vec:
    """Its position; () where that is not known."""
    known = thing is not None and len(thing.position) >= 3 and all(map(math.isfinite, thing.position[:3]))
    return tuple(float(v) for v in thing.position[:3]) if thing is not None and known else ()

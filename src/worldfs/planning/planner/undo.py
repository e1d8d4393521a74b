"""Undo: goals that put back what the last instruction moved, and what of it cannot be put back."""

from __future__ import annotations

from collections.abc import Sequence

from worldfs.base.model import Scene

from .goals import Goal, InGoal, OnGoal, OpenedGoal, PlacedGoal
from .scene_facts import immovable_ids, layout, settled


def undo_goals(before: Scene, scene: Scene, only: Sequence[str] | None = None) -> tuple[list[Goal], list[str]]:
    """Goals for every thing that is not where it was, or not as far open, and the ids of those that cannot come back:
    they are gone, or their place before is no place to put a thing down. Of `only`, where that is given."""
    was, now = settled(layout(before)), settled(layout(scene))
    still = immovable_ids(scene)
    found: list[Goal] = []
    lost: list[str] = []
    for piece in before.furniture:
        found_now = scene.thing(piece.id)
        if found_now is None or found_now.status == piece.status or (only is not None and piece.id not in only):
            continue
        if piece.status in ("open", "closed"):
            found.append(OpenedGoal(piece.id, piece.status))
        elif piece.status == "ajar":  # how far, no goal can say
            lost.append(piece.id)
    for id, spot in was.items():
        if only is not None and id not in only:
            continue
        old, new = before.thing(id), scene.thing(id)
        if id not in now or old is None or new is None:
            lost.append(id)
            continue
        moved = max(abs(a - b) for a, b in zip(old.position[:2], new.position[:2], strict=True)) > 0.03
        if spot == now[id] and not moved:
            continue
        if spot.relation == "in":
            found.append(InGoal(id, spot.of))
        elif spot.relation == "on" and spot.of not in still:
            found.append(OnGoal(id, spot.of))
        elif spot.relation == "on":
            found.append(PlacedGoal(id, tuple(old.position[:2])))
        else:
            lost.append(id)
    return found, lost

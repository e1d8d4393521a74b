"""What one robot saw of things that another one carries: they move with that robot, and its own observation says so.

A document that had the thing where it is now, and its carrier where that was before, would be built again with the
thing beside an empty hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from worldfs.base.model import Relation, Scene
from worldfs.base.tray_names import robot_of_tray


def left_to_their_carriers(seen: Scene, read: Callable[[], Scene], robot: str) -> Scene:
    """`seen` by `robot`, but what another robot holds, and what stays on another's tray, as the document has it, which
    `read` reads. What `robot` has just given away, or put on a tray, it tells itself."""
    others = [edge for edge in seen.relations if edge.relation == "held_by" and edge.object != robot]
    if not others and not any(_is_tray(piece.id, robot) for piece in seen.furniture):
        return seen
    document, kept = read(), set[str]()
    known = {thing.id: thing for thing in document.objects}
    for thing in seen.objects:
        now, before = _carrier(seen.relations, thing.id), _carrier(document.relations, thing.id)
        if thing.id not in known or now is None or now[0] == robot:
            continue
        grasped = now[1] == "held_by" and (before is None or before[0] != robot)  # the one that grasps it tells it
        if before == now or grasped:
            kept.add(thing.id)
    trays = {piece.id: piece for piece in document.furniture if _is_tray(piece.id, robot)}
    relations = [edge for edge in seen.relations if edge.subject not in kept]
    relations += [edge for edge in document.relations if edge.subject in kept]
    return replace(
        seen,
        objects=tuple(known[thing.id] if thing.id in kept else thing for thing in seen.objects),
        furniture=tuple(trays.get(piece.id, piece) for piece in seen.furniture),
        relations=tuple(relations),
    )


def _is_tray(id: str, robot: str) -> bool:
    """Whether it is another robot's tray."""
    return robot_of_tray(id) not in ("", robot)


def _carrier(relations: Iterable[Relation], thing: str) -> tuple[str, str] | None:
    """The robot that carries it, and how."""
    for edge in relations:
        if edge.subject == thing and edge.relation == "held_by":
            return edge.object, edge.relation
        if edge.subject == thing and edge.relation in ("in", "on") and (robot := robot_of_tray(edge.object)):
            return robot, edge.relation
    return None

"""What the observation after an order shows as moved, that the order does not name: of a package's body.

Only what can be laid to the order counts: a thing that was seen before and after, that the document had where the body
saw it before (else another robot, or a person, has moved it since), and that nothing carried which the order moves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from worldfs.base.hollows import opens
from worldfs.base.model import Order, Scene
from worldfs.base.tray_names import robot_of_tray
from worldfs.robots.displacements import SHIFTED, Displacement, displacements, object_poses
from worldfs.sessions.session_words import things_in

NOISE: Final = 0.03  # m: a sensor may report a thing that stands so far from where it reported it before


def moved_besides(order: Order, before: Scene, after: Scene, document: Scene) -> list[Displacement]:
    """None for an order that names no thing. `document`: as it was before the later observation was written."""
    named = {id for scene in (before, after, document) for id in things_in(order.params, scene)}
    if not named:
        return []
    told, now = object_poses(document.objects), object_poses(after.objects)
    seen = {
        id: pose
        for id, pose in object_poses(before.objects).items()
        if id in told and math.dist(told[id][0], pose[0]) <= SHIFTED
    }
    carriers = {line["id"] for line in displacements(object_poses(before.objects), now)} & named
    carriers |= {piece.id for piece in document.furniture if _carries(piece.id, order.node, named, document)}
    carriers |= {order.node, *(robot.holding for robot in (*before.robots, *after.robots) if robot.holding)}
    besides = named | _with_carried(carriers, (before, after, document))
    return [line for line in displacements(seen, now, besides) if line["moved_m"] > NOISE]


def _carries(id: str, node: str, named: Iterable[str], document: Scene) -> bool:
    """Whether what is in or on this piece moves with it: the robot's own tray, or a drawer that the order names."""
    piece = document.thing(id)
    return robot_of_tray(id) == node or (id in named and piece is not None and opens(piece))


def _with_carried(carriers: set[str], scenes: Iterable[Scene]) -> set[str]:
    """These and whatever is related to them by any path: in them, on them, held by them."""
    edges = {(edge.subject, edge.object) for scene in scenes for edge in scene.relations}
    while more := {subject for subject, object in edges if object in carriers} - carriers:
        carriers = carriers | more
    return carriers

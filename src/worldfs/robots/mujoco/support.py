"""The support of a thing: what carries its weight, by the contact forces, and how far it leans. Moves nothing."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np

from worldfs.robots import orientation

from .rig import BodyRig
from .vessel_model import GRAINS

CARRIES = 0.95  # share of the load that the thing named must carry by itself
HANGS = 0.5  # share of its own weight that contacts must carry: less, and something unseen holds it
TOUCH = 0.05  # share of the load below which a support is a mere touch
MOSTLY = 0.5  # share of the load from which a thing falls when its support goes


def loads(rig: BodyRig, id: str) -> dict[str, float]:
    """The supports of an object, by id ("robot", "floor"), each with its upward force (N); no downward forces."""
    found: dict[str, float] = {}
    for body, newtons in _body_loads(rig, id).items():
        owner = rig.body_owner[body]
        found[owner] = found.get(owner, 0.0) + newtons
    return {owner: newtons for owner, newtons in found.items() if newtons > 0}


def on_part(rig: BodyRig, id: str, fixture: str) -> bool:
    """Whether a fixture's moving part carries an object that is not in the fixture: it lies on a lid or across rims."""
    part = _body_loads(rig, id).get(rig.fixtures[fixture].body, 0.0)
    return part > TOUCH * weight(rig, id) and not rig.encloses(fixture, id)


def _body_loads(rig: BodyRig, id: str) -> dict[int, float]:
    """The upward force (N) of each body of the model that touches an object; below 0 where it presses down."""
    model, data, body = rig.simulation.model, rig.simulation.data, rig.body[id]
    found: dict[int, float] = {}
    force = np.zeros(6)
    for i, (one, other) in enumerate(rig.geom_body[data.contact.geom].tolist()):
        if body not in (one, other) or one == other:
            continue
        mujoco.mj_contactForce(model, data, i, force)
        # the first axis of a contact's frame points from its first body to its second: the force is on the second
        upward = float(data.contact.frame[i].reshape(3, 3)[:, 2] @ force[:3])
        by = one if other == body else other
        found[by] = found.get(by, 0.0) + (upward if other == body else -upward)
    return found


def weight(rig: BodyRig, id: str) -> float:
    """N."""
    return float(rig.simulation.model.body_mass[rig.body[id]]) * float(np.linalg.norm(rig.simulation.model.opt.gravity))


def shares(rig: BodyRig, id: str) -> dict[str, float]:
    """Each support's part of what holds a thing up, 0…1, the greatest first; empty where contacts do not carry it."""
    found = loads(rig, id)
    total = sum(found.values())
    if total < HANGS * weight(rig, id):
        return {}
    return dict(sorted(((owner, part / total) for owner, part in found.items()), key=lambda item: -item[1]))


def share(rig: BodyRig, id: str, place: str) -> float:
    """The part of a thing's load that `place` carries, 0…1.

    A basket, a drawer or a chest carries also through the objects that lie in it.
    """
    found = shares(rig, id)
    own = {place, *(rig.contents(place) if is_hollow(rig, place) else ())} - {id}
    return sum(part for owner, part in found.items() if owner in own)


def carried(rig: BodyRig, id: str, place: str) -> bool:
    """Whether `place` carries a thing by itself."""
    return share(rig, id, place) >= CARRIES


def stands_on(rig: BodyRig, id: str, place: str) -> bool:
    """The same of what is not in the place: on a lid, it rests on the chest."""
    return shares(rig, id).get(place, 0.0) >= CARRIES


def bearer(rig: BodyRig, id: str) -> str:
    """The thing of the scene that carries another one by itself; "" for none."""
    place = next(iter(shares(rig, id)), "")
    return place if place in {*rig.things} - rig.plan.added and stands_on(rig, id, place) else ""


def is_hollow(rig: BodyRig, place: str) -> bool:
    """Whether things may be in it: a basket, a tray, a drawer, a chest or a vessel."""
    piece = rig.things.get(place)
    return piece is not None and (piece.shape == "basket" or place in rig.fixtures or place in rig.vessels)


def boxes_round(rig: BodyRig, id: str) -> list[str]:
    """The baskets, trays, drawers and chests that enclose a thing."""
    boxes = [piece.id for piece in rig.furniture if piece.shape == "basket" or piece.id in rig.fixtures]
    return [box for box in boxes if rig.encloses(box, id)]


def contains(rig: BodyRig, id: str, place: str) -> bool:
    """Whether a thing lies in a basket, a drawer, a chest or a vessel: its place there, its weight on what is there."""
    return rig.encloses(place, id) and carried(rig, id, place)


def riders(rig: BodyRig, id: str) -> list[str]:
    """Everything that a thing carries for the most part, also by way of others; not what merely leans on it."""
    found: list[str] = []
    left = [id]
    while left:
        under = left.pop()
        for other in rig.objects:
            if other != id and other not in found and shares(rig, other).get(under, 0.0) > MOSTLY:
                found.append(other)
                left.append(other)
    return found


def touched_from_outside(rig: BodyRig, id: str) -> set[str]:
    """What touches a thing, but for the robot, what the thing carries, and grains, which are its content or give
    way."""
    return rig.touching(id) - {"robot", GRAINS, *riders(rig, id)}


def format_shares(found: Mapping[str, float]) -> str:
    """`dice 62 %, table_01 38 %`; "nothing" for none."""
    return ", ".join(f"{owner} {100 * part:.0f} %" for owner, part in found.items() if part > 0.005) or "nothing"


# --- which way up ---


def upright_axis(rig: BodyRig, id: str) -> int:
    """The object's own axis (0, 1, 2) that points up; −1 for a ball."""
    return orientation.axis(rig.things[id].shape, rig.rotation(id))


def lean(rig: BodyRig, id: str, axis: int) -> float:
    """The angle (rad) of that axis to the vertical."""
    thing = rig.things[id]
    return orientation.lean(thing.shape, thing.size, rig.rotation(id), axis)


def flat(rig: BodyRig, id: str) -> bool:
    """Whether an object stands or lies squarely, whichever way up."""
    return lean(rig, id, upright_axis(rig, id)) <= orientation.FLAT

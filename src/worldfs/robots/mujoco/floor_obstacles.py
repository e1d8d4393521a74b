"""The bodies of a world as obstacles on its floor: where the others stand, and where those that move will pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .reserved_space import ReservedSpace
from .rig import BodyRig

BASE_HALF: Final = 0.15  # m, half the side of an arm's foot


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A rectangle on the floor (4: lowest x y, highest x y, m) that belongs to a thing or to another robot."""

    owner: str
    rectangle: tuple[float, ...]
    robot: bool = False


def body_obstacles(rig: BodyRig, reserved: ReservedSpace, top: float, *, minding: bool) -> list[Obstacle]:
    """What of the other bodies is lower than `top` (m) where they stand and, with `minding`, where those that move will
    pass; without it those that move do not count."""
    found = []
    ahead = reserved.of_others(rig.robot_id)
    for id, view in rig.others.items():
        found.append(Obstacle(id, (*(view.base[:2] - BASE_HALF), *(view.base[:2] + BASE_HALF))))
    walking = {id: view.bodies for id, view in rig.quadrupeds.items() if id != rig.robot_id}
    for id, bodies in ({id: view.bodies for id, view in rig.others.items()} | walking).items():
        if id not in ahead:
            rows = rig.cover(bodies).spheres(rig.simulation.data)
            low = rows[rows[:, 2] - rows[:, 3] < top]
            found += [Obstacle(id, (*(row[:2] - row[3]), *(row[:2] + row[3])), True) for row in low]
    for id, carrier in rig.carriers.items():
        if id != rig.robot_id and id not in ahead:
            box = carrier.box()
            found.append(Obstacle(id, (*box[:2], *box[3:5]), True))
    if minding:
        for id, space in ahead.items():
            found += [Obstacle(id, tuple(row), True) for row in space.footprints(top)]
    return found

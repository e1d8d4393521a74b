"""The zones of a scene's map: the places that `map.zones` of ENVIRONMENT.md names, as floor plans give them."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from .json_values import as_object, as_objects, as_text
from .model import Scene, Vec

DOCKS: Final = ("dock", "docking station", "charging station", "charger", "充电站", "充电桩", "充电座")
"""Names of the place where a robot is charged, as people give them: with a number or a letter behind it, too."""


class MapZone(NamedTuple):
    """`at`: x y (m), () where only the robot's own map knows. `size`: x y (m), () where it is a point."""

    name: str
    at: Vec = ()
    yaw: float | None = None  # rad; None: any
    size: Vec = ()
    passing: bool = False  # a place beside the lanes, where a robot may wait for another one

    @property
    def pose(self) -> Vec:
        """x y yaw."""
        return (*self.at, self.yaw or 0.0) if self.at else ()

    @property
    def dock(self) -> bool:
        """Whether its name says that a robot is charged there."""
        said = self.name.casefold().replace("_", " ").replace("-", " ").rstrip(" 0123456789")
        return said in DOCKS or said.rpartition(" ")[0] in DOCKS


def map_zones(scene: Scene) -> tuple[MapZone, ...]:
    """Those with a name, in their order; of two with one name the first. A place is given as `pose` or as `center`."""
    found: dict[str, MapZone] = {}
    for item in as_objects(as_object(scene.extra.get("map")).get("zones")):
        name = as_text(item.get("name"))
        if name and name not in found:
            pose = _numbers(item.get("pose"))
            at = (pose or _numbers(item.get("center")))[:2]
            yaw, size = pose[2] if len(pose) > 2 else None, _numbers(item.get("size"))[:2]
            found[name] = MapZone(name, at, yaw, size, item.get("passing") is True)
    return tuple(found.values())


def _numbers(value: object) -> Vec:
    """Two or more; () for what is none."""
    found = value if isinstance(value, list) and len(value) >= 2 else []
    good = all(type(one) in (int, float) and math.isfinite(one) for one in found)
    return tuple(map(float, found)) if good else ()

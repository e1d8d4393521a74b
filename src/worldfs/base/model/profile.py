"""What a body can do, and its limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .operation import Operation

TRUTH: Final = "truth"  # the simulation's own state
CAMERA: Final = "camera"  # what its cameras show
WORLD_FRAME: Final = "world"  # of bounds: that of ENVIRONMENT.md
BASE_FRAME: Final = "base"  # x ahead of the robot, y to its left, from its base
PERCEPTIONS: Final = (TRUTH, CAMERA)  # what a robot plans from


@dataclass(frozen=True, slots=True)
class Profile:
    """A body's abilities: the typed reading of EMBODIED.md."""

    name: str = ""
    model: str = ""
    dof: int | None = None
    end_effector: str = ""
    driver: str = ""
    type: str = ""
    sensors: tuple[tuple[str, bool], ...] = ()  # words as printed, ticked or not
    ops: tuple[Operation, ...] = ()
    max_reach: float | None = None  # m
    max_payload: float | None = None  # kg
    max_grip_width: float | None = None  # m
    min_grip_width: float | None = None  # m: what is smaller, or flatter, slips out of the fingers
    max_frame_age: float | None = None  # s: nothing moves on an older picture
    bounds: tuple[tuple[float, float], ...] = ()  # x, y[, z] ranges in m
    bounds_frame: str = ""  # WORLD_FRAME or BASE_FRAME; "": not said
    unread: tuple[str, ...] = ()  # limit lines that could not be read: reported, never taken as passed
    perception: str = ""  # a word of `PERCEPTIONS`; "": not said, which is `TRUTH`
    odd: tuple[str, ...] = ()  # what looks like an action and is not listed as supported: reported, and refused

    def op(self, name: str) -> Operation | None:
        return next((o for o in self.ops if o.name == name), None)

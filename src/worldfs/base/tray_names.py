"""The id of a carrier's tray: it names the robot that carries it."""

from __future__ import annotations

from typing import Final

_TRAY: Final = "_tray"


def tray_id(robot: str) -> str:
    return robot + _TRAY


def robot_of_tray(id: str) -> str:
    """The robot whose tray has that id; "" for what is no tray."""
    return id.removesuffix(_TRAY) if id.endswith(_TRAY) else ""

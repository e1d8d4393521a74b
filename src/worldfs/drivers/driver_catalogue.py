"""The catalogue: every driver by name, as the factories that a world is assembled from."""

from __future__ import annotations

from functools import partial

from ..ground.driver import Driver, DriverContext, DriverFactory
from .driver_registry import DriverSettings, driver_names, make_driver


def catalogue(*, seed: int | None = None, objects: int | None = None, cameras: bool = True) -> dict[str, DriverFactory]:
    """Name → factory. `seed`, `objects`, `cameras` are for simulations (`registry.Settings`)."""
    return {name: partial(_make, name, seed, objects, cameras) for name in driver_names()}


def _make(name: str, seed: int | None, objects: int | None, cameras: bool, seat: DriverContext) -> Driver:
    settings = DriverSettings(
        seat.robot_id,
        seed=seed,
        objects=objects,
        cameras=cameras,
        artifacts=seat.artifacts,
        interpreter=seat.interpreter,
        language=seat.language,
    )
    return make_driver(name, settings)

"""The catalogue: every driver by name, as the factories that a world is assembled from."""

from __future__ import annotations

from functools import partial

from worldfs.base.driver import Driver, DriverContext, DriverFactory

from .driver_registry import DriverSettings, driver_names, make_driver


def catalogue(*, seed: int | None = None, objects: int | None = None, cameras: bool = True) -> dict[str, DriverFactory]:
    """Name → factory. `seed`, `objects`, `cameras` are for simulations (`driver_registry.DriverSettings`)."""
    return {name: partial(_make, name, seed, objects, cameras) for name in driver_names()}


def _make(name: str, seed: int | None, objects: int | None, cameras: bool, context: DriverContext) -> Driver:
    settings = DriverSettings(
        context.robot_id,
        seed=seed,
        objects=objects,
        cameras=cameras,
        artifacts=context.artifacts,
        interpreter=context.interpreter,
        language=context.language,
    )
    return make_driver(name, settings)

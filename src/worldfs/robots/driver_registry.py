"""The drivers that there are, by name; each loads its engine only when it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from worldfs.base.driver import Driver, Interpreter
from worldfs.base.errors import BadInput, MissingRequirement

SIM = "pip install 'worldfs[sim]'"


@dataclass(frozen=True, slots=True)
class DriverSettings:
    """The input of every factory; a driver takes what it needs.

    `seed`, `objects`: the random scene of a simulation that is opened on an empty one. `artifacts`: directory beside
    ENVIRONMENT.md for pictures. `interpreter`: language to orders, for real_execute. `language` (en | zh): of the names
    in that random scene.
    """

    robot_id: str
    seed: int | None = None
    objects: int | None = None
    cameras: bool = True
    artifacts: Path | None = None
    interpreter: Interpreter | None = None
    language: str = "en"


def _simulation(settings: DriverSettings) -> Driver:
    try:
        import mujoco  # noqa: F401 # the question is whether it is there
        import numpy  # noqa: F401 # same
    except ImportError as error:
        raise MissingRequirement(f"the simulation needs {error.name or 'mujoco'}", op="open a body", fix=SIM) from error
    from .mujoco.tabletop_driver import TabletopDriver

    return TabletopDriver(
        settings.robot_id,
        seed=settings.seed,
        objects=settings.objects,
        cameras=settings.cameras,
        artifacts=settings.artifacts,
        interpreter=settings.interpreter,
        language=settings.language,
    )


DRIVERS: dict[str, Callable[[DriverSettings], Driver]] = {
    "simulation": _simulation,
    "rekep_sim": _simulation,  # its own skills are a later matter: until then the same body answers to the name
}


def driver_names() -> tuple[str, ...]:
    return tuple(DRIVERS)


def make_driver(name: str, settings: DriverSettings) -> Driver:
    """A driver by its name in EMBODIED.md (Identity / Driver), not yet opened.

    Errors: `BadInput` for a name that is none, `MissingRequirement` with the command that installs its engine.
    """
    factory = DRIVERS.get(name.strip().lower())
    if factory is None:
        raise BadInput(
            f"no driver is called {name!r}",
            path="EMBODIED.md Identity / Driver",
            op="open a body",
            expected=f"one of {', '.join(DRIVERS)}",
            fix="name one of them under Driver, or install the package that brings the driver",
        )
    return factory(settings)

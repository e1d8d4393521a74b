"""The bodies that there are, by name; each loads its engine only when it is made.

[project.entry-points."worldfs.bodies"]
toy_arm = "toy_arm:ToyArm"             # (PluginContext) -> Driver
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from worldfs.base.driver import Driver, DriverFactory, PluginContext
from worldfs.base.errors import MissingRequirement
from worldfs.base.messages import coded
from worldfs.base.plugin_registry import PluginGroup

SIM = "pip install 'worldfs[sim]'"


def simulation(context: PluginContext) -> Driver:
    """A Panda on a table, simulated by MuJoCo. Raises `MissingRequirement` with the command that installs it."""
    try:
        import mujoco  # noqa: F401 # the question is whether it is there
        import numpy  # noqa: F401 # same
    except ImportError as error:
        raise MissingRequirement(
            coded("robot.simulation_needs", name=error.name or "mujoco"), op="open a body", fix=SIM
        ) from error
    from .mujoco.tabletop_driver import TabletopDriver

    return TabletopDriver(
        context.robot_id,
        seed=context.seed,
        objects=context.objects,
        cameras=context.cameras,
        artifacts=context.artifacts,
        interpreter=context.interpreter,
        language=context.language,
    )


BODIES: Final = PluginGroup[DriverFactory](
    "worldfs.bodies",
    {
        "simulation": f"{__name__}:simulation",
        "rekep_sim": f"{__name__}:simulation",  # the specification's name for a simulation that solves constraints
    },
)


class BodyCatalogue(Mapping[str, DriverFactory]):
    """Every body by name, made with these options: of a simulation's random scene, and whether it has cameras."""

    def __init__(self, *, seed: int | None = None, objects: int | None = None, cameras: bool = True) -> None:
        self._seed, self._objects, self._cameras = seed, objects, cameras

    def __getitem__(self, name: str) -> DriverFactory:
        make = BODIES[name]
        return lambda context: make(replace(context, seed=self._seed, objects=self._objects, cameras=self._cameras))

    def __contains__(self, name: object) -> bool:
        return name in BODIES

    def __iter__(self) -> Iterator[str]:
        return iter(BODIES)

    def __len__(self) -> int:
        return len(BODIES)

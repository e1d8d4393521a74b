"""The bodies that there are, by name; each loads its engine only when it is made.

[project.entry-points."worldfs.bodies"]
toy_arm = "toy_arm:ToyArm"             # (PluginContext) -> Driver
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from worldfs.base.extras import needs
from worldfs.base.plugin_faults import is_ours
from worldfs.base.plugin_registry import PluginGroup, callable_object

if TYPE_CHECKING:
    from worldfs.base.driver import Driver, DriverFactory, PluginContext

    from .mujoco.pacing import Pacing
    from .mujoco.scene_stream import SceneStream
    from .mujoco.shared_world import SharedWorld

SIM = "pip install 'worldfs[sim]'"
TABLETOP: Final = "tabletop"  # the world that all simulated robots of a workspace share
SCENE: Final = "scene"  # in `PluginContext.shared`: what viewers see of its simulations


def simulation(context: PluginContext) -> Driver:
    """A Panda on a table, simulated by MuJoCo. Raises `MissingRequirement` with the command that installs it."""
    world = _shared_world(context)
    from worldfs.base.model.profile import TRUTH

    from .mujoco.tabletop_driver import TabletopDriver

    return TabletopDriver(
        context.robot_id,
        world=world,
        cameras=context.cameras,
        artifacts=context.artifacts,
        interpreter=context.interpreter,
        perception=context.perception or TRUTH,
        max_frame_age=context.max_frame_age,
        profile=context.profile,
    )


def carrier(context: PluginContext) -> Driver:
    """A wheeled carrier with a tray in the same world. Raises `MissingRequirement` as `simulation` does."""
    world = _shared_world(context)
    from .mujoco.carrier_driver import CarrierDriver

    return CarrierDriver(context.robot_id, world=world, profile=context.profile)


def quadruped(context: PluginContext) -> Driver:
    """A quadruped that walks over the floor of the same world. Raises `MissingRequirement` as `simulation` does."""
    world = _shared_world(context)
    from .mujoco.quadruped.quadruped_driver import QuadrupedDriver

    return QuadrupedDriver(context.robot_id, world=world, cameras=context.cameras, profile=context.profile)


def _shared_world(context: PluginContext) -> SharedWorld:
    """The world that the simulated robots of the workspace have in common."""
    _engine()
    from .mujoco.shared_world import SharedWorld

    world = context.shared.get(TABLETOP)
    if not isinstance(world, SharedWorld):
        stream = _scene_stream(context)
        world = SharedWorld(
            seed=context.seed,
            objects=context.objects,
            language=context.language,
            pacing=_pacing(context),
            stream=stream,
        )
        context.shared[TABLETOP] = world
    return world


def _scene_stream(context: PluginContext) -> SceneStream:
    """What viewers of this workspace's simulations see."""
    from .mujoco.scene_stream import SceneStream

    stream = context.shared.get(SCENE)
    if not isinstance(stream, SceneStream):
        stream = context.shared[SCENE] = SceneStream(context.clock)
    return stream


def _pacing(context: PluginContext) -> Pacing | None:
    from .mujoco.pacing import Pacing

    return Pacing(context.clock, context.real_time) if context.real_time else None


def _engine() -> None:
    with needs("sim", op="open a body"):
        import mujoco  # noqa: F401 # the question is whether it is there


def _made(loaded: DriverFactory) -> DriverFactory:
    if is_ours(loaded):
        return loaded
    from .checked_bodies import CheckedBodies  # the parsers of every port, which only a package's body needs

    return CheckedBodies(callable_object(loaded))


SIMULATIONS: Final = {
    "simulation": f"{__name__}:simulation",
    "rekep_sim": f"{__name__}:simulation",  # the specification's name for a simulation that solves constraints
    "wheeled_carrier": f"{__name__}:carrier",
    "go2_edu": f"{__name__}:quadruped",
}
"""The bodies that only exist while a kernel of ours runs."""

BODIES: Final = PluginGroup["DriverFactory"]("worldfs.bodies", SIMULATIONS, _made)


class BodyCatalogue(Mapping[str, "DriverFactory"]):
    """Every body by name, made with these options: of a simulation's random scene, whether it has cameras, and how
    many seconds of it pass in one (0: as many as can)."""

    def __init__(
        self, *, seed: int | None = None, objects: int | None = None, cameras: bool = True, real_time: float = 0.0
    ) -> None:
        self._seed, self._objects, self._cameras, self._real_time = seed, objects, cameras, real_time

    def __getitem__(self, name: str) -> DriverFactory:
        make = BODIES[name]
        return lambda context: make(
            replace(context, seed=self._seed, objects=self._objects, cameras=self._cameras, real_time=self._real_time)
        )

    def __contains__(self, name: object) -> bool:
        return name in BODIES

    def __iter__(self) -> Iterator[str]:
        return iter(BODIES)

    def __len__(self) -> int:
        return len(BODIES)

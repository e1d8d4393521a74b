"""SimTargetAdapter: a simulation as a target, by its backend (000 "TARGETS.md").

`mujoco` is the table of this package; `gymnasium` any environment that is registered (`config: {env_id, kwargs}`);
`maniskill` and `isaac_sim` are their own libraries, which need a GPU and say so where there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from worldfs.drivers.targets.adapter import Bench, TargetAdapter
from worldfs.ground.errors import Missing
from worldfs.ground.model import Target

SIM: Final = "pip install 'worldfs[sim]'"


def adapter(target: Target, bench: Bench) -> TargetAdapter:
    """Raises `Missing` for a backend that nobody brings, naming those there are; `open` says what is not installed."""
    make = BACKENDS.get(target.backend.strip().lower() or "mujoco")
    if make is None:
        raise Missing(
            f"no backend is called {target.backend!r}", path=f"TARGETS.md {target.id} backend",
            expected="one of " + ", ".join(BACKENDS), fix="name one of them",
        )  # fmt: skip
    return make(target, bench)


def _mujoco(target: Target, bench: Bench) -> TargetAdapter:
    try:
        import gymnasium  # noqa: F401 # the question is whether it is there
        import mujoco  # noqa: F401 # same
    except ImportError as error:
        raise Missing(f"the simulation needs {error.name or 'mujoco'}", op="open a target", fix=SIM) from error
    from .tabletop import TabletopTarget

    return TabletopTarget(target, bench)


def _gymnasium(target: Target, bench: Bench) -> TargetAdapter:
    from .gym import GymTarget

    return GymTarget(target, bench)


def _maniskill(target: Target, bench: Bench) -> TargetAdapter:
    from .gym import GymTarget

    return GymTarget(
        target, bench, module="mani_skill.envs", package="mani_skill", default_id="PickCube-v1",
        needs="ManiSkill renders and steps on a device with Vulkan (a GPU); on a CPU alone it finds none",
    )  # fmt: skip


def _isaac(target: Target, bench: Bench) -> TargetAdapter:
    from .gym import GymTarget

    return GymTarget(
        target, bench, module="isaaclab_tasks", package="isaaclab", default_id="Isaac-Lift-Cube-Franka-v0",
        needs="Isaac Sim runs on an RTX GPU only",
    )  # fmt: skip


BACKENDS: Final[dict[str, Callable[[Target, Bench], TargetAdapter]]] = {
    "mujoco": _mujoco,
    "gymnasium": _gymnasium,
    "maniskill": _maniskill,
    "isaac_sim": _isaac,
}

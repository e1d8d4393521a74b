"""SimTargetAdapter: a simulation as a target, by its backend (000 "TARGETS.md").

`mujoco` is the table of this package; `gymnasium` any environment that is registered (`config: {env_id, kwargs}`), in
this process or, with `config.python`, in one of that Python; `libero`, `maniskill` and `isaac_sim` always in their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from worldfs.base.driver import PluginContext
from worldfs.base.errors import MissingRequirement
from worldfs.base.extras import needs
from worldfs.base.messages import coded
from worldfs.base.model import Target
from worldfs.robots.targets.target_adapter import TargetAdapter
from worldfs.robots.targets.target_declaration import BACKENDS, no_backend

from .environments.process_target import ProcessTarget
from .gym_target import GymTarget

SIM: Final = "pip install 'worldfs[sim]'"


def adapter(target: Target, context: PluginContext) -> TargetAdapter:
    """Raises `MissingRequirement` for an unknown backend, naming the known ones; `open` reports missing packages."""
    if why := no_backend(target):
        raise MissingRequirement(
            why,
            path=f"TARGETS.md {target.id} backend",
            expected=coded("common.either_of", names=[*MAKERS]),
            fix=coded("common.name_one"),
        )
    return MAKERS[target.backend.strip().lower() or BACKENDS[0]](target, context)


def _mujoco(target: Target, context: PluginContext) -> TargetAdapter:
    with needs("sim", op="open a target"):
        from .tabletop_target import TabletopTarget

    return TabletopTarget(target, context)


def _gymnasium(target: Target, context: PluginContext) -> TargetAdapter:
    return ProcessTarget(target, context) if target.config.get("python") else GymTarget(target, context)


MAKERS: Final[dict[str, Callable[[Target, PluginContext], TargetAdapter]]] = {
    "mujoco": _mujoco,
    "gymnasium": _gymnasium,
    "libero": ProcessTarget,
    "maniskill": ProcessTarget,
    "isaac_sim": ProcessTarget,
}

"""The driver factories of a kernel that the command line starts, from the command's options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.robots.driver_registry import BodyCatalogue

if TYPE_CHECKING:
    from worldfs.base.driver import DriverFactory


def factories(
    name: str | None, *, seed: int | None, cameras: bool, real_time: float = 0.0
) -> Mapping[str, DriverFactory]:
    """Every known driver by name; with `name`, that one under every name, so that it replaces all drivers."""

    known: Mapping[str, DriverFactory] = BodyCatalogue(seed=seed, cameras=cameras, real_time=real_time)
    if name is None:
        return known
    if name not in known:
        expected, fix = coded("common.one_of", names=sorted(known)), coded("command.robot_in_config")
        raise BadInput(coded("command.no_driver", name=name), op="--driver", expected=expected, fix=fix)
    return _Everywhere(known[name])


class _Everywhere(dict[str, "DriverFactory"]):
    """One factory under any name, also one that the catalogue does not have (a workspace made for other hardware)."""

    def __init__(self, factory: DriverFactory) -> None:
        super().__init__()
        self._factory = factory

    def __contains__(self, name: object) -> bool:
        return True

    def __getitem__(self, name: str) -> DriverFactory:
        return self._factory

"""What of a fleet one process serves, where several do: the shared workspace, some of the robots, or both."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.storage.lease import KERNEL_LEASE, node_lease

if TYPE_CHECKING:
    from worldfs.formats.config import Config


class FleetShare(NamedTuple):
    """`hub`: the shared workspace: its missions, its pages, its alerts. `robots`: None, all of them."""

    hub: bool = True
    robots: frozenset[str] | None = None

    def has(self, robot: str) -> bool:
        return self.robots is None or robot in self.robots

    def elsewhere(self, robot: str, config: Config | None) -> bool:
        """Whether another process serves that robot, or may: one without the shared workspace judges of no name."""
        if self.robots is None or robot in self.robots:
            return False
        return not self.hub or (config is not None and any(item.robot_id == robot for item in config.instances))

    def of(self, config: Config) -> Config:
        """The configuration as this process has it: one without the shared workspace knows its own robots alone."""
        if self.hub:
            return config
        return config._replace(
            instances=tuple(item for item in config.instances if self.has(item.robot_id)),
            refused=tuple(item for item in config.refused if self.has(item.robot_id)),
        )

    def leases(self) -> list[str]:
        """What it takes of the shared store."""
        return [KERNEL_LEASE] if self.hub else [node_lease(id) for id in sorted(self.robots or ())]


WHOLE = FleetShare()


def read_share(robots: Collection[str], config: Config, *, hub: bool = False) -> FleetShare:
    """What the options of `paos up` name: these robots, the shared workspace alone (`hub`), or the whole. Raises
    `BadInput`."""
    if not robots and not hub:
        return WHOLE
    if robots and hub:
        raise BadInput(coded("fleet.both_shares"), path="--robot", op="up", expected=coded("fleet.one_share"))
    if config.mode != "fleet":
        raise BadInput(coded("fleet.no_fleet"), path="--robot", op="up", expected=coded("fleet.a_fleet_config"))
    known = [item.robot_id for item in config.instances if item.enabled]
    for id in robots:
        if id not in known:
            there = coded("common.one_of", names=known)
            raise BadInput(coded("mission.no_such_robot", robot=id[:80]), path="--robot", op="up", expected=there)
    return FleetShare(hub, frozenset(robots))

"""Whether a robot is served, and when its process was last heard of: by its lease, which that process renews."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.clock import stamp
from worldfs.base.errors import UserError
from worldfs.formats import entry_ids
from worldfs.storage.lease import KERNEL_LEASE, node_lease

if TYPE_CHECKING:
    from .world import World

ROBOTS_PAGE: Final = "ROBOTS.md"
LAST_SEEN: Final = "lost, last seen "  # of a lost robot, on that page; a time follows
SERVED: Final = "served"  # in the lease of the shared workspace: the robots that its holder serves
ELSEWHERE = "elsewhere"  # what the lease of the shared workspace says of its robots where its holder serves none


class RobotLiveness(NamedTuple):
    """`heard`: by this process's own clock; None: it serves the robot itself, or has never heard of it. `lost`: the
    shared workspace is served, and the robot is not. `by`: the holder of the robot's own lease, in a fleet of several
    processes."""

    served: bool
    lost: bool = False
    heard: datetime | None = None
    by: Mapping[str, object] = MappingProxyType({})


def robot_liveness(world: World, robot: str) -> RobotLiveness:
    if world.kernel is not None and robot in world.kernel.nodes:
        return RobotLiveness(True)
    lease = world.store.lease(node_lease(robot))
    if (holder := lease.holder()) is not None:
        return RobotLiveness(True, False, lease.heard(), holder)
    if world.kernel is not None:
        return RobotLiveness(False, world.share.elsewhere(robot, world.config), lease.heard())
    hub = world.store.lease(KERNEL_LEASE).holder()
    lost = hub is not None and hub.get("robots") == ELSEWHERE
    known = hub is None or SERVED not in hub or robot in str(hub[SERVED]).split()
    return RobotLiveness(hub is not None and not lost and known, lost, lease.heard())


def served_elsewhere(world: World, robot: str) -> bool:
    """Whether another process serves that robot, or may: also one that was taken out of this configuration meanwhile,
    for as long as that process goes on."""
    if world.share.elsewhere(robot, world.config):
        return True
    if world.share.robots is None or entry_ids.unsafe(robot):
        return False
    return world.store.lease(node_lease(robot)).holder() is not None


def shared_out(world: World) -> bool:
    """Whether the shared workspace is served, and robots by other processes: only then can a robot be lost."""
    if world.kernel is not None:
        return world.share.robots is not None
    hub = world.store.lease(KERNEL_LEASE).holder()
    return hub is not None and hub.get("robots") == ELSEWHERE


def last_seen(world: World, robot: str, alive: RobotLiveness) -> str:
    """When a lost robot's process was heard of last, as a stamp; "": not known.

    A process that opened the store after that reads it on the page that the hub wrote.
    """
    if alive.heard is not None:
        return stamp(alive.heard)
    try:
        stored = world.store.get(ROBOTS_PAGE)
    except UserError:  # a link or a directory has its name
        return ""
    page = stored.data.decode("utf-8", "replace") if stored is not None else ""
    found = re.search(rf"^\| {re.escape(robot)} \|.*\| {LAST_SEEN}(\S+) \|", page, re.M)
    return found[1] if found is not None else ""

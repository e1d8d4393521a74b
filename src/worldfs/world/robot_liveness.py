"""Whether a robot is served, and when its process was last heard of: by its lease, which that process renews."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from worldfs.storage.lease import KERNEL_LEASE, node_lease

if TYPE_CHECKING:
    from .world import World

ELSEWHERE = "elsewhere"  # what the lease of the shared workspace says of its robots where its holder serves none


class RobotLiveness(NamedTuple):
    """`heard`: by this process's own clock; None: it serves the robot itself, or has never heard of it. `lost`: the
    shared workspace is served, and the robot is not."""

    served: bool
    lost: bool = False
    heard: datetime | None = None


def robot_liveness(world: World, robot: str) -> RobotLiveness:
    if world.kernel is not None and robot in world.kernel.nodes:
        return RobotLiveness(True)
    lease = world.store.lease(node_lease(robot))
    if lease.holder() is not None:
        return RobotLiveness(True, False, lease.heard())
    if world.kernel is not None:
        return RobotLiveness(False, world.share.elsewhere(robot, world.config), lease.heard())
    hub = world.store.lease(KERNEL_LEASE).holder()
    lost = hub is not None and hub.get("robots") == ELSEWHERE
    return RobotLiveness(hub is not None and not lost, lost, lease.heard())

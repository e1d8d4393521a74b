"""Loss notices: what an instruction says while it waits for a robot that no process serves any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from worldfs.base.messages import coded
from worldfs.storage.lease import NODE_LEASES

from .robot_liveness import last_seen, robot_liveness, shared_out

if TYPE_CHECKING:
    from .world import World


def lost_text(world: World, robot: str) -> str:
    """That an instruction waits for a lost robot, and when it was last seen; "" if it is not lost."""
    alive = robot_liveness(world, robot)
    if not alive.lost:
        return ""
    at = last_seen(world, robot, alive)
    return coded("runtime.waiting_lost_since", node=robot, at=at) if at else coded("runtime.waiting_lost", node=robot)


def lease_keys(world: World) -> tuple[str, ...]:
    """What changes when a robot is lost or served again; nothing where one process serves all robots."""
    return (NODE_LEASES,) if shared_out(world) else ()


class LossNotices:
    """Tells once of each robot that is lost, and once that it is served again."""

    def __init__(self, world: World, tell: Callable[[str], None]) -> None:
        """`tell` takes a coded text."""
        self._world, self._tell = world, tell
        self._lost: set[str] = set()

    def check(self, robots: Iterable[str]) -> None:
        for robot in robots:
            lost = lost_text(self._world, robot)
            if lost and robot not in self._lost:
                self._lost.add(robot)
                self._tell(lost)
            elif not lost and robot in self._lost:
                self._lost.remove(robot)
                self._tell(coded("runtime.served_again", node=robot))

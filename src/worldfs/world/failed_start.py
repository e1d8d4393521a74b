"""A start that fails: which robots may move on, by what the kernel of it has measured and what is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from worldfs.base.errors import Busy, WorldError
from worldfs.base.messages import coded

from .left_robots import left_robots

if TYPE_CHECKING:
    from worldfs.runtime.kernel import Kernel

    from .fleet_share import FleetShare
    from .world import World


def moving_robots(world: World, kernel: Kernel | None) -> list[str]:
    """The robots that were stopped, or whose kernel left them moving, and that are not known to stand. `kernel`: the
    one that failed to start; None: it failed before its drivers were there."""
    simulated, left = world.robot_stops.simulated(), set[str]()
    with suppress(WorldError):  # documents that cannot be read: what the jobs and the kernel say is left
        left.update(id for id in world.node_ids() if world.stops.state(id).stopped and id not in simulated)
    left.update(left_robots(world.jobs, world.stops, lambda: simulated, lambda node: True))
    left.update(world.robot_stops.earlier().look().moving)
    if kernel is None:
        return sorted(left)
    served = {id for id in left if kernel.stopping.serves(id)}
    left -= {id for id in served if not kernel.stopping.may_move(id)}
    left.update(id for id in tuple(kernel.nodes) if kernel.stopping.may_move(id) and id not in simulated)
    return sorted(left)


def take_leases(world: World, share: FleetShare) -> WorldError | OSError | None:
    """None: they are taken. Else why they cannot be, where robots may move and no other process has their drivers: the
    caller makes the drivers, lets them be told, and raises it. Raises it itself where there is nothing to tell."""
    try:
        world.leases.take_all(share)
    except Busy:
        raise
    except (WorldError, OSError) as error:
        with suppress(WorldError):
            if moving_robots(world, None) and world.leases.is_free(share):
                return error
        raise
    return None


@contextmanager
def named_moving(world: World) -> Iterator[None]:
    """Within it the world's kernel starts: an error names them, for the person that has to stop them. A `Busy` lease
    does not: another kernel has their drivers."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, Busy) and world.starting is None:
            raise
        moving: list[str] = []
        with suppress(WorldError):  # what cannot be read is no reason to lose the error
            moving = moving_robots(world, world.starting)
        if moving:
            error.add_note(coded("stop.start_failed", nodes=moving))
        raise

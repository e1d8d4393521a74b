"""Robots that come and go while the kernel of a fleet runs: config.json is read again, and the difference served."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import UserError
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Outcome
from worldfs.storage.revision import PRIVATE_DIR

from .bringup import error_finding
from .fleet_directories import refuse_robot
from .home import Home
from .home_world import open_robot

if TYPE_CHECKING:
    from worldfs.formats.config import Config, Instance
    from worldfs.runtime.kernel import Kernel

    from .node_specs import NodeSpec
    from .world import World

CONFIG_WRITTEN: Final = f"{PRIVATE_DIR}/config"  # in the shared workspace: whoever writes config.json writes it after


class FleetChanges:
    """Used by the kernel's own thread only."""

    def __init__(
        self,
        world: World,
        kernel: Kernel,
        begin: Callable[[Sequence[NodeSpec]], bool],
        forget: Callable[[str], None],
    ) -> None:
        """`begin`: opens robots that were added, whose stores the world has; False: to be called once more.
        `forget`: drops what is kept of one that left."""
        self._world, self._kernel, self._begin, self._forget = world, kernel, begin, forget

    def apply(self) -> bool:
        """Serve what config.json says now. False: something waits for a robot that is still at work; one that leaves is
        asked to stop."""
        world, kernel = self._world, self._kernel
        if world.config is None or world.config.mode != "fleet":
            return True
        try:
            config = world.share.of(Home(Path(world.config.home)).config(os.environ))
        except UserError as error:
            kernel.alert.document("config.json", (error_finding(error, "config.json", coded("fleet.readable")),))
            return True
        if config.mode != "fleet" or config.shared_workspace != world.config.shared_workspace:
            return True  # another workspace: at the next start
        before = {item.robot_id: item for item in world.config.instances}
        wanted = {item.robot_id: item for item in config.instances if item.enabled}
        leaving = [id for id in tuple(world.stores.robots) if wanted.get(id) != before.get(id)]
        disabled = {item.robot_id for item in config.instances if not item.enabled}
        kernel.off = frozenset(leaving) | disabled
        staying = [before[id] for id in leaving if not self._remove(id)]
        for robot in wanted.values():
            if robot.robot_id not in world.stores.robots:
                config = self._open(config, robot)
        kernel.off = disabled | {item.robot_id for item in staying}
        world.reconfigure(_with(config, staying))
        new = [spec for spec in world.specs if spec.id not in kernel.nodes and world.share.has(spec.id)]
        begun = self._begin(new)
        return begun and not staying

    def _remove(self, id: str) -> bool:
        """End the robot's open jobs with the reason, and let it go; False: one of them still runs."""
        reason = Outcome.failure(Cause.CANCELLED, "ROBOT_REMOVED", coded("fleet.removed", id=id))
        if id in self._kernel.nodes and not self._kernel.remove(id, reason):
            return False
        self._world.remove_store(id)
        self._forget(id)
        self._kernel.alert(f"/nodes/{id}", None)
        return True

    def _open(self, config: Config, robot: Instance) -> Config:
        try:
            store = open_robot(self._world.root, robot)
        except UserError as error:
            return refuse_robot(config, robot, error.found)
        try:
            self._world.add_store(robot.robot_id, store)
        except UserError as error:  # another kernel serves that directory
            store.close()
            return refuse_robot(config, robot, error.found)
        return config


def _with(config: Config, staying: Iterable[Instance]) -> Config:
    """The configuration with robots that have not gone yet."""
    old = {item.robot_id: item for item in staying}
    rest = [item for item in config.instances if item.robot_id not in old]
    return config._replace(instances=(*rest, *old.values()))

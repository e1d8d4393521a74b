"""Robots that come and go while the kernel of a fleet runs: config.json is read again, and the difference served."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import UserError
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Outcome
from worldfs.storage.revision import PRIVATE_DIR

from .fleet_directories import refuse_robot
from .home_world import open_robot

if TYPE_CHECKING:
    from worldfs.formats.config import Config, Instance
    from worldfs.runtime.kernel import Kernel

    from .live_config import LiveConfig
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
        *,
        declare: Callable[[], bool],
        live: LiveConfig | None,
    ) -> None:
        """`begin`: opens robots that were added, whose stores the world has; False: to be called once more.
        `forget`: drops what is kept of one that left. `declare`: says what the configuration is now."""
        self._world, self._kernel, self._begin, self._forget = world, kernel, begin, forget
        self._declare, self._live = declare, live

    def apply(self) -> bool:
        """Serve what config.json says now. False: something waits for a robot that is still at work; one that leaves is
        asked to stop."""
        world, kernel = self._world, self._kernel
        kernel.off_now()
        if world.config is None or self._live is None or self._live.error is not None:
            return self._declare()
        config = world.share.of(self._live.now)
        served = world.config
        if "fleet" not in (config.mode, served.mode):  # its robot is the one that it was started with
            world.reconfigure(served._replace(approval=config.approval, findings=config.findings))
            return self._declare()
        if config.mode != served.mode or config.shared_workspace != served.shared_workspace:
            return self._declare()  # another workspace: at the next start
        before = {item.robot_id: item for item in served.instances}
        wanted = {item.robot_id: item for item in config.instances if item.enabled}
        leaving = [id for id in tuple(world.stores.robots) if wanted.get(id) != before.get(id)]
        disabled = {item.robot_id for item in config.instances if not item.enabled}
        coming = wanted.keys() - world.stores.robots.keys()
        kernel.off = frozenset(leaving) | disabled | coming  # until all is done: none of them is unknown meanwhile
        world.leaving = frozenset(leaving) - {item.robot_id for item in (*config.instances, *config.refused)}
        staying = [before[id] for id in leaving if not self._remove(id)]
        busy = {id for id in wanted if id not in world.stores.robots and not self._end_target(id)}
        for robot in wanted.values():
            if robot.robot_id not in world.stores.robots and robot.robot_id not in busy:
                config = self._open(config, robot)
        there = [item for item in config.instances if item.robot_id not in busy]
        world.reconfigure(_with(config._replace(instances=tuple(there)), staying))
        new = [spec for spec in world.specs if spec.id not in kernel.nodes and world.share.has(spec.id)]
        begun = self._begin(new)
        kernel.off = disabled | busy | {item.robot_id for item in staying}
        if world.orchestration is not None:
            world.orchestration.loop.wake()  # missions may wait for a robot that is here now
        return begun and not staying and not busy

    def _remove(self, id: str) -> bool:
        """End the robot's open jobs with the reason, and let it go; False: one of them still runs."""
        off = id in self._kernel.off_now()
        code, said = ("ROBOT_DISABLED", "fleet.disabled") if off else ("ROBOT_REMOVED", "fleet.removed")
        if not self._end_node(id, Outcome.failure(Cause.CANCELLED, code, coded(said, id=id))):
            return False
        self._world.remove_store(id)
        return True

    def _end_target(self, id: str) -> bool:
        """A target of sessions is a robot now: its sessions end; False: one of them still runs."""
        return self._end_node(id, Outcome.failure(Cause.CANCELLED, "TARGET_IS_ROBOT", coded("fleet.is_robot", id=id)))

    def _end_node(self, id: str, reason: Outcome) -> bool:
        if id in self._kernel.nodes and not self._kernel.remove(id, reason):
            return False
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

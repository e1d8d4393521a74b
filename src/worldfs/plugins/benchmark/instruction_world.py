"""A world in memory with a simulated arm, in which one instruction is carried out."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Self

from worldfs.base.clock import Clock
from worldfs.base.model import Scene
from worldfs.formats import environment
from worldfs.robots.mujoco.arm import Arm
from worldfs.robots.mujoco.tabletop_driver import TabletopDriver
from worldfs.storage.open_store import open_store
from worldfs.world.tree_planner_port import TreePlannerPort
from worldfs.world.world import World

ROBOT = "franka_001"


class InstructionWorld:
    """The kernel with its critic, its jobs and the Panda, as `paos do` has them; the files alone are in memory."""

    def __init__(self, scene: Scene, language: str, clock: Clock) -> None:
        self._driver, self._stop = TabletopDriver(ROBOT, cameras=False), threading.Event()
        self._open, store = ExitStack(), open_store("memory")
        profile = "franka_panda.zh.md" if language == "zh" else "franka_panda.md"
        now = clock.now().isoformat()
        store.put("ENVIRONMENT.md", environment.merge(b"", scene, robot_id=ROBOT, now=now))
        store.put("EMBODIED.md", resources.files("worldfs").joinpath("profiles", profile).read_bytes())
        drivers = {"simulation": lambda context: self._driver}
        root = Path("/nowhere")
        self._world = self._open.enter_context(World.open(root, store=store, clock=clock, serve=True, drivers=drivers))
        self._kernel = threading.Thread(target=self._world.run, kwargs={"stop": self._stop}, daemon=True)

    @property
    def arm(self) -> Arm:
        return self._driver.arm

    @property
    def port(self) -> TreePlannerPort:
        return self._world.planner_port(ROBOT)

    def rest(self, seconds: float) -> None:
        """Let simulated time pass, while the arm holds where it is."""
        with self.arm.view.working():
            self.arm.mover.begin(lambda: "")
            self.arm.mover.wait(seconds)

    def __enter__(self) -> Self:
        self._kernel.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stop.set()
        self._world.wake()
        self._kernel.join()
        self._open.close()

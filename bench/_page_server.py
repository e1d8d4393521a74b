"""A served page over a kernel whose bodies do nothing, and a scene that moves by a script: python -m … HOME

An arm and ten objects; the arm's links move all the time, and with its hand one of the objects. Says its port and a
token as JSON; then, for each line that it is sent until its input ends, the processor seconds of this process: "rate N"
moves the scene N times a second (0: whenever it is looked at, 30 frames a second being no limit then; -: not at all),
"cpu" does nothing else.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

OBJECTS = 10
STEPS = 300  # poses of one round of the script
HAND, CARRIED = 9, "thing_0"  # the body of the hand, and what it holds


class ScriptedWorld:
    """A drawn world (`worldfs.robots.mujoco.drawn_world.DrawnWorld`) whose poses were computed beforehand."""

    def __init__(self) -> None:
        import mujoco

        from worldfs.formats import environment
        from worldfs.robots.mujoco import drawn_world, panda

        drawn = drawn_world.of_scene(environment.read(_environment()).scene, ["franka_001"], ())
        model, data = drawn.simulation.model, drawn.simulation.data
        self.geometry, self.size = drawn.geometry, drawn.size
        carried = next(n for n, body in enumerate(self.geometry["bodies"]) if body.get("id") == CARRIED)
        joints = [int(model.joint(drawn.plan.arms[0].prefix + name).qposadr[0]) for name in panda.JOINTS]
        frames = []
        for step in range(STEPS):
            for n, at in enumerate(joints):
                data.qpos[at] = panda.HOME[n] + 0.3 * np.sin(2 * np.pi * (step / STEPS + n / 7))
            mujoco.mj_forward(model, data)
            poses = drawn.poses().copy()
            poses[carried, :3] = poses[HAND, :3] - [0, 0, 0.1]
            frames.append(poses)
        self._frames = frames
        self._step = 0
        self.simulation = SimpleNamespace(
            data=SimpleNamespace(time=0.0), resting=False, at_rest=_never, on_steps=None, on_rest=None
        )

    def poses(self) -> Any:
        return self._frames[self._step % STEPS].copy()

    def contacts(self) -> list[Any]:
        return []

    def plans(self) -> dict[str, list[Any]]:
        return {}

    def move(self) -> None:
        self._step += 1
        self.simulation.data.time += 1 / 30
        self.simulation.on_steps()


@contextmanager
def _never() -> Iterator[bool]:
    yield False


def _environment() -> bytes:
    def thing(n: int) -> dict[str, Any]:
        at = [0.3 + 0.09 * (n % 5), 0.2 + 0.1 * (n // 5), 0.025]
        return {"id": f"thing_{n}", "name": f"cube {n}", "category": "cube", "position": at, "size": [0.05] * 3,
                "shape": "box", "color": "blue"}  # fmt: skip

    table = {"id": "table_01", "type": "furniture", "position": [0.45, 0.0, 0.0], "name": "table",
             "size": [0.9, 1.2, 0.75], "shape": "table"}  # fmt: skip
    robot = {"robot_id": "franka_001", "pose": [0.0, 0.0, 0.0], "gripper": "open", "holding": None}
    value = {"schema_version": "v2.0", "scene_graph": {"nodes": [table], "edges": []}, "robots": [robot],
             "objects": [thing(n) for n in range(OBJECTS)]}  # fmt: skip
    return f"# ENVIRONMENT\n\n```json\n{json.dumps(value)}\n```\n".encode()


class Motion:
    """Moves the world at a rate, from a thread of its own; at 0 whenever a viewer asks for the next frame."""

    def __init__(self, world: ScriptedWorld) -> None:
        self._world = world
        self._rate: float | None = None
        self._changed = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def set(self, word: str) -> None:
        self._rate = None if word == "-" else float(word)
        self._changed.set()
        self.asked()  # a viewer may have asked already

    def asked(self) -> None:
        if self._rate == 0:
            self._world.move()

    def _run(self) -> None:
        while True:
            self._changed.clear()
            if not self._rate:
                self._changed.wait()
            else:
                due = time.monotonic() + 1 / self._rate
                self._world.move()
                self._changed.wait(max(0.0, due - time.monotonic()))


def main(home: Path) -> None:
    from worldfs.access.tokens import TokenStore
    from worldfs.base.clock import SystemClock
    from worldfs.interfaces.acheron.serve_realm import BackgroundServer, ListenOptions
    from worldfs.interfaces.cli.kernel_thread import KernelThread
    from worldfs.interfaces.cli.main import tune_process
    from worldfs.interfaces.web.static_site import StaticSite
    from worldfs.robots.driver_registry import SCENE
    from worldfs.robots.mujoco import scene_stream
    from worldfs.testing.null_driver import NullDriver
    from worldfs.world.home import Home
    from worldfs.world.served_world import ServedWorld
    from worldfs.world.world import World

    tune_process()  # as in `paos up`
    clock, scripted = SystemClock(), ScriptedWorld()
    with ExitStack() as stack:
        world = stack.enter_context(
            World.open(Home(home).workspace, serve=True, drivers={"null": lambda context: NullDriver()})
        )
        motion = Motion(scripted)

        class ScriptedStream(scene_stream.SceneStream):
            def ask(self) -> None:
                super().ask()
                motion.asked()

        stream = world.shared[SCENE] = ScriptedStream(clock)
        stream.put("scripted", scripted)  # type: ignore[arg-type]  # of its shape
        world.behaviours["scene_poses"].light = True  # as where a simulation runs
        stack.enter_context(KernelThread(world))
        realm = stack.enter_context(ServedWorld.open(home, world=world, clock=clock, agents=home / "agents"))
        server = stack.enter_context(BackgroundServer(realm, ListenOptions(port=0), site=StaticSite().page))
        token = TokenStore.open(home).add("mother", "admin")[1]
        print(json.dumps({"port": server.started.port, "token": token}), flush=True)
        for line in sys.stdin:
            word, _, value = line.strip().partition(" ")
            if word == "rate":
                scene_stream.PERIOD = 0.0 if value == "0" else 1 / 30  # type: ignore[misc]  # an hour is sped up
                stream._next = 0.0
                motion.set(value)
            print(time.process_time(), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

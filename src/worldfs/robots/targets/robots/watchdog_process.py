"""The guard: a second process that stops a robot when the one that leads it is gone or hangs.

A thread cannot outlive its process; a robot that goes on at its last velocity needs a process that does. The watchdog
has its own connection; it reads a byte a command from a pipe, and stops the robot when the pipe ends, or stays silent
while the robot moves.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Final

from worldfs.base.errors import MissingRequirement
from worldfs.base.messages import coded

READY_S: Final = 15.0  # for it to start and connect
MOVING, STANDING = b"m", b"s"
TRIES: Final = 5


class WatchdogProcess:
    """Of one robot. `robot`: a name of `STOPPERS`; `settings` are its own."""

    def __init__(self, robot: str, settings: Mapping[str, object], limit_s: float) -> None:
        self._robot, self._settings, self._limit_s = robot, dict(settings), limit_s
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Raises `MissingRequirement` when it does not come up: without it nothing moves."""
        settings_json = json.dumps([self._robot, self._settings, self._limit_s])
        self._process = process = subprocess.Popen(
            [sys.executable, "-m", __name__, settings_json],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},  # it finds what this process found
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], READY_S)
        if not ready or os.read(process.stdout.fileno(), 16).strip() != b"ready":
            self.close()
            raise MissingRequirement(coded("target.no_guard"), fix=coded("target.see_above"))

    def feed(self, *, moving: bool) -> None:
        if self._process is not None and self._process.stdin is not None:
            try:
                os.write(self._process.stdin.fileno(), MOVING if moving else STANDING)
            except BrokenPipeError:
                return  # `alive` tells

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def close(self) -> None:
        """Sends one more stop, and ends."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        try:
            process.wait(5.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def watch(pipe: int, limit_s: float, stop: Callable[[], None]) -> None:
    """Until the pipe ends: `stop` when it does, and when the robot moves and nothing came for `limit_s`."""
    moving = False
    while True:
        ready, _, _ = select.select([pipe], [], [], limit_s if moving else None)
        if not ready:
            stop()
            moving = False
            continue
        data = os.read(pipe, 4096)
        if not data:
            stop()
            return
        moving = data[-1:] == MOVING


def _unitree(settings: Mapping[str, object]) -> Callable[[], None]:
    from unitree_sdk2py.core.channel import ChannelFactoryInitialize
    from unitree_sdk2py.go2.sport.sport_client import SportClient

    ChannelFactoryInitialize(settings["domain"], settings["interface"] or None)
    sport = SportClient()
    sport.SetTimeout(1.0)
    sport.Init()

    def stop() -> None:
        for _ in range(TRIES):
            if sport.StopMove() == 0:
                return

    return stop


def _rosbridge(settings: Mapping[str, object]) -> Callable[[], None]:
    from worldfs.robots.vehicles.rosbridge.rosbridge_stop import stopper

    return stopper(settings)


STOPPERS: Final[dict[str, Callable[[Mapping[str, object]], Callable[[], None]]]] = {
    "unitree_go2": _unitree,
    "rosbridge": _rosbridge,
}


def main(settings_json: str) -> None:
    robot, settings, limit_s = json.loads(settings_json)
    out = os.dup(1)
    os.dup2(2, 1)  # a library that prints must not be taken for the word below
    stop = STOPPERS[robot](settings)
    os.write(out, b"ready\n")
    watch(0, float(limit_s), stop)


if __name__ == "__main__":
    main(sys.argv[1])

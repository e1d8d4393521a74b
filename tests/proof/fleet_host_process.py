"""A host of a fleet, `paos …` with bodies of the plant: HOST PLANT LOG CLOCK_S WORDS…

`CLOCK_S`: how far its clock is off. `LOG`: which leases it believes to hold, and until when.
"""

from __future__ import annotations

import json
import os
import random
import socket
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from worldfs.base.clock import SystemClock
from worldfs.base.driver import PluginContext, Run
from worldfs.base.model import Cause, Finding, Operation, Order, Outcome, RobotState, Scene
from worldfs.interfaces.cli import driver_factories
from worldfs.interfaces.cli.main import main
from worldfs.plugins.nats_store.nats_lease import NatsLease
from worldfs.storage.lease import is_kernel_lease

BUCKET = "fleet"


class PlantBody:
    """A driver whose body is in another process."""

    operations = (Operation("target_navigation"), Operation("move_to"))

    def __init__(self, context: PluginContext, plant: str, host: str) -> None:
        self.robot, self.epoch, self._plant, self._host = context.robot_id, context.epoch, plant, host

    def _ask(self, do: str, **more: Any) -> socket.socket:
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(self._plant)
        value = {"do": do, "robot": self.robot, "host": self._host, "epoch": self.epoch, **more}
        peer.sendall(json.dumps(value).encode() + b"\n")
        return peer

    def open(self, scene: Scene) -> None:
        with self._ask("open") as peer, peer.makefile() as lines:
            assert json.loads(lines.readline()) == "open"

    def observe(self) -> Scene:
        with self._ask("where") as peer, peer.makefile() as lines:
            pose = tuple(json.loads(lines.readline()))
            return Scene((RobotState(self.robot, pose, extra={"tcp": list(pose)}),))  # by which a place is reached

    def review(self, order: Order) -> Sequence[Finding]:
        return ()

    def execute(self, order: Order, run: Run) -> Outcome:
        pose, mission = list(order.params["target_pose"])[:3], str(order.extra["mission"])
        self.epoch = run.epoch
        with self._ask("move", mission=mission, pose=pose, takes=random.uniform(0.02, 0.6)) as peer:
            peer.settimeout(0.02)
            asked, data = False, b""
            while not data.endswith((b'"done"\n', b'"halted"\n', b'"stale"\n', b'"busy"\n')):
                if run.stop and not asked:
                    asked = True
                    peer.sendall(b"halt\n")
                try:
                    data += peer.recv(4096)
                except TimeoutError:
                    continue
        if data.endswith(b'"done"\n'):
            return Outcome.success("there")
        if data.endswith(b'"halted"\n'):
            return Outcome.failure(Cause.CANCELLED, "CANCELLED", "halted")
        return Outcome.failure(Cause.REJECTED, "STALE_EPOCH", "another host has this body")

    def close(self) -> None:
        return


def note_leases(log: int, host: str) -> None:
    """Each lease of the shared bucket that this process believes to hold, by the machine's own clock."""
    publish, release = NatsLease._publish, NatsLease.release

    def note(lease: NatsLease, until: float) -> None:
        if is_kernel_lease(lease.name) and lease._bucket.name == BUCKET and (lease.epoch or lease.seq):
            value = {"at": time.monotonic(), "lease": lease.name, "host": host, "until": until}
            os.write(log, json.dumps(value | {"epoch": lease.epoch or lease.seq}).encode() + b"\n")

    async def published(lease: NatsLease, expected: int) -> None:
        await publish(lease, expected)
        if lease._holder is not None:  # else it was given back while a renewal was on its way
            note(lease, lease._valid_until)

    def released(lease: NatsLease) -> None:
        if lease._holder is not None and lease.epoch:
            note(lease, min(time.monotonic(), lease._valid_until))
        release(lease)

    NatsLease._publish, NatsLease.release = published, released  # type: ignore[method-assign]


def begin() -> int:
    host, plant, log, clock_s, *words = sys.argv[1:]
    note_leases(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), host)
    off = timedelta(seconds=float(clock_s))
    SystemClock.now = lambda self: datetime.now(UTC) + off  # type: ignore[method-assign]
    bodies = {"plant": lambda context: PlantBody(context, plant, host)}
    driver_factories.factories = lambda name, **options: bodies  # type: ignore[assignment]
    return main(words)


if __name__ == "__main__":
    sys.exit(begin())

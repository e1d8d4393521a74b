"""A kernel in a process of its own, to be killed: ROOT LOG. Each start of a body is durable in LOG before it moves."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from worldfs.base.clock import SystemClock
from worldfs.base.driver import PluginContext, Run
from worldfs.base.errors import UserError
from worldfs.base.model import Order, Outcome
from worldfs.testing.null_driver import NullDriver
from worldfs.world.world import World


class Logged(NullDriver):
    def __init__(self, log: int) -> None:
        super().__init__()
        self._log = log

    def execute(self, order: Order, run: Run) -> Outcome:
        os.write(self._log, f"{order.id} {run.attempt}\n".encode())
        os.fsync(self._log)
        return super().execute(order, run)


def main(root: str, log: str) -> int:
    fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def make(seat: PluginContext) -> Logged:
        return Logged(fd)

    try:
        world = World.open(Path(root), clock=SystemClock(), serve=True, drivers={"simulation": make})
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    print("open", flush=True)
    world.run(stop=threading.Event(), until_idle=len(sys.argv) > 3)
    world.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))

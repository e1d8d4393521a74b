"""A kernel with the simulated arm in a process of its own, which tells when its driver is stopped.

Says "ready", then the machine's monotonic time of each call of the driver's stop, until its input ends.
While a second file is there that it is given, its disk is full, and no motion returns.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worldfs.base.driver import Run
    from worldfs.base.model import Order, Outcome
    from worldfs.storage.store_interface import Store

WRITES = frozenset(("create", "write", "append", "patch", "truncate", "rename", "link", "mkdir", "stamp"))
LOOK_S = 0.001


def store_of(workspace: Path, full: Path | None) -> Store | None:
    """A store whose disk is full while the file `full` is there; None: the usual one."""
    from worldfs.base.disk import Disk
    from worldfs.storage.disk_store import DiskStore

    if full is None:
        return None

    def boundary(name: str, path: str) -> None:
        if name in WRITES and os.path.exists(full):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    return DiskStore(workspace, Disk(boundary))


def main(workspace: Path, full: Path | None = None) -> None:
    from worldfs.base.driver import PluginContext
    from worldfs.interfaces.cli.main import tune_process
    from worldfs.robots.mujoco.tabletop_driver import TabletopDriver
    from worldfs.world.world import World

    class Timed(TabletopDriver):
        def stop(self) -> None:
            print(time.monotonic(), flush=True)

        def execute(self, order: Order, run: Run) -> Outcome:
            outcome = super().execute(order, run)
            while full is not None and full.exists():  # its end could not be written
                time.sleep(LOOK_S)
            return outcome

    def body(seat: PluginContext) -> Timed:
        return Timed(seat.robot_id, cameras=False)

    tune_process()  # as in `paos up`
    stop = threading.Event()
    with World.open(workspace, store=store_of(workspace, full), serve=True, drivers={"simulation": body}) as world:

        def listen() -> None:
            print("ready", flush=True)
            sys.stdin.read()
            stop.set()
            world.wake()

        threading.Thread(target=listen, daemon=True).start()
        world.run(stop=stop)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))

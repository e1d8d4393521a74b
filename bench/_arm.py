"""A kernel with the simulated arm in a process of its own, which tells when its driver is stopped.

Says "ready", then the machine's monotonic time of each call of the driver's stop, until its input ends.
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path


def main(workspace: Path) -> None:
    from worldfs.base.driver import PluginContext
    from worldfs.interfaces.cli.main import tune_process
    from worldfs.robots.mujoco.tabletop_driver import TabletopDriver
    from worldfs.world.world import World

    class Timed(TabletopDriver):
        def stop(self) -> None:
            print(time.monotonic(), flush=True)

    def body(seat: PluginContext) -> Timed:
        return Timed(seat.robot_id, cameras=False)

    tune_process()  # as in `paos up`
    stop = threading.Event()
    with World.open(workspace, serve=True, drivers={"simulation": body}) as world:

        def listen() -> None:
            print("ready", flush=True)
            sys.stdin.read()
            stop.set()
            world.wake()

        threading.Thread(target=listen, daemon=True).start()
        world.run(stop=stop)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""A kernel in a process of its own, whose bodies, targets and skills do nothing: `python -m bench._kernel WORKSPACE`.

Says "ready", then the number of durable writes so far for each line it is sent, until its input ends.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path


def main(workspace: Path) -> None:
    from worldfs.ground.driver import Seat
    from worldfs.testing.driver import NullDriver
    from worldfs.testing.target import null_parts
    from worldfs.tree.stores.disk import DiskStore
    from worldfs.world.world import World

    def body(seat: Seat) -> NullDriver:
        return NullDriver()

    stop = threading.Event()
    with World.open(workspace, serve=True, drivers={"null": body}, parts=null_parts()) as world:
        assert isinstance(world.store, DiskStore)
        disk = world.store.disk

        def listen() -> None:
            print("ready", flush=True)
            for _ in sys.stdin:
                print(disk.commits, flush=True)
            stop.set()
            world.wake()

        threading.Thread(target=listen, daemon=True).start()
        world.run(stop=stop)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

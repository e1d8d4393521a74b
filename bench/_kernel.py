"""A kernel in a process of its own, whose bodies, targets and skills do nothing: `python -m bench._kernel WORKSPACE`.

Says "ready"; then, for each line it is sent until its input ends: for "count" the number of durable writes so far,
for "tape" what it has asked of the disk since the last such line (from the first on it is written down), as JSON.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

from ._tape import Tape


def main(workspace: Path) -> None:
    from worldfs.base.driver import PluginContext
    from worldfs.interfaces.cli.main import tune_process
    from worldfs.storage.disk_store import DiskStore
    from worldfs.testing.null_driver import NullDriver
    from worldfs.testing.null_target import null_parts
    from worldfs.world.layout.versioned_rows import VERSIONED
    from worldfs.world.world import GUARDED, World

    def body(seat: PluginContext) -> NullDriver:
        return NullDriver()

    tune_process()  # as in `paos up`
    stop, disk = threading.Event(), Tape()
    store = DiskStore(workspace, disk, guarded=GUARDED, versioned=VERSIONED)  # as World.open makes it
    with World.open(workspace, serve=True, store=store, drivers={"null": body}, parts=null_parts()) as world:

        def listen() -> None:
            print("ready", flush=True)
            for line in sys.stdin:
                if line == "tape\n":
                    print(json.dumps(disk.take()), flush=True)
                    disk.taping = True
                    continue
                disk.taping = False
                print(disk.commits, flush=True)
            stop.set()
            world.wake()

        threading.Thread(target=listen, daemon=True).start()
        world.run(stop=stop)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

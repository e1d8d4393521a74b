"""A life in a process of its own: NAME ROOT [LOG]. Prints each step once it is done, to be killed at any moment.

LOG: where what its `Recorder` wrote down is put at the end.
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

from worldfs.ground.disk import Disk

from ..crash_log import Recorder
from . import life


def main(name: str, root: str, log: str = "") -> None:
    one = life(name)
    recorder = Recorder(root) if log else None
    os.write(1, b"begin\n")
    for step in one.live(Path(root), recorder or Disk()):
        os.write(1, f"{step}\n".encode())
        if recorder is not None:
            recorder.ack(step)
    if recorder is not None:
        Path(log).write_bytes(pickle.dumps([tuple(op) for op in recorder.ops]))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""A workload in a process of its own: NAME ROOT [LOG]. Prints each step once it is done, to be killed at any moment.

LOG: the file for its `Recorder`'s log; `hold` instead: it waits for a line after each that it
prints.
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

from worldfs.base.disk import Disk
from worldfs.testing.crash_log import Recorder

from . import load_workload


def main(name: str, root: str, log: str = "") -> None:
    one, held = load_workload(name), log == "hold"
    recorder = Recorder(root) if log and not held else None
    _say("begin", held)
    for step in one.run(Path(root), recorder or Disk()):
        _say(step, held)
        if recorder is not None:
            recorder.ack(step)
    if recorder is not None:
        Path(log).write_bytes(pickle.dumps([tuple(op) for op in recorder.ops]))


def _say(step: str, held: bool) -> None:
    os.write(1, f"{step}\n".encode())
    if held:
        os.read(0, 1)


if __name__ == "__main__":
    main(*sys.argv[1:])

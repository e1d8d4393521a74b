"""A claimer in a process of its own: `python -m bench._claimer KIND DIRECTORY NUMBER OF`, told what to do by its input.

KIND "inbox": DIRECTORY is an agent's; claims until nothing is left. KIND "floor": DIRECTORY holds inbox/ and claimed/;
renames from one to the other and fsyncs, until nothing is left. Says "ready", then after a line of input how many it
got and the monotonic clock at its end.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path


def claim(place: Path) -> int:
    from worldfs.agents.agent_directory import AgentDirectory
    from worldfs.agents.inbox import Inbox

    inbox = Inbox(AgentDirectory(place.parent, place.name))
    inbox.wait(0)  # the listing and the watch, as anybody has them who claims more than once
    _ready()
    got = 0
    while inbox.claim("claimer") is not None:
        got += 1
    return got


def rename(place: Path, number: int, of: int) -> int:
    """Each begins somewhere else, as claimers that share nothing would have to."""
    source, target = (os.open(place / name, os.O_RDONLY | os.O_DIRECTORY) for name in ("inbox", "claimed"))
    names = sorted(os.listdir(source))
    start = number * len(names) // of
    _ready()
    got = 0
    for name in names[start:] + names[:start]:
        try:
            os.rename(name, name, src_dir_fd=source, dst_dir_fd=target)
        except FileNotFoundError:
            continue
        os.fsync(target)
        got += 1
    return got


def _ready() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    kind, directory = sys.argv[1], Path(sys.argv[2])
    got = claim(directory) if kind == "inbox" else rename(directory, int(sys.argv[3]), int(sys.argv[4]))
    print(got, time.monotonic(), flush=True)

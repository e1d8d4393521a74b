"""A life in a process of its own: NAME ROOT. Prints each step once it is done, to be killed at any moment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from worldfs.ground.disk import Disk

from . import life


def main(name: str, root: str) -> None:
    one = life(name)
    os.write(1, b"begin\n")
    for step in one.live(Path(root), Disk()):
        os.write(1, f"{step}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

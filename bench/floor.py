"""The raw floor: what the disk itself asks for a durable replacement of a small file."""

from __future__ import annotations

import os
import time
from pathlib import Path

BYTES = 400  # about the size of a job's files


def replace_once(directory: int, name: str, data: bytes) -> None:
    """Bare write + fsync + rename + fsync of the directory, by descriptor, as cheap as it can be had."""
    fd = os.open("draft", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644, dir_fd=directory)
    os.write(fd, data)
    os.fsync(fd)
    os.close(fd)
    os.rename("draft", name, src_dir_fd=directory, dst_dir_fd=directory)
    os.fsync(directory)


class Floor:
    """Measures `count` replacements in a directory of the same file system as what it is compared with."""

    def __init__(self, place: Path) -> None:
        place.mkdir(parents=True, exist_ok=True)
        self._fd = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
        self._made = 0

    def seconds(self, count: int) -> float:
        data = b"x" * BYTES
        began = time.perf_counter()
        for _ in range(count):
            self._made += 1
            replace_once(self._fd, f"file{self._made % 64}", data)
        return time.perf_counter() - began

    def close(self) -> None:
        os.close(self._fd)

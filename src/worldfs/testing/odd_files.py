"""What may lie in a file's place and is none: each kind is made at a path where nothing is."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

OddFile = Callable[[Path], None]


def fifo(path: Path) -> None:
    os.mkfifo(path)


def directory(path: Path) -> None:
    path.mkdir()


def dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def in_a_circle(path: Path) -> None:
    path.symlink_to(path.name)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def elsewhere(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = os.open(path.parent, os.O_PATH)
        made.bind(f"/proc/self/fd/{here}/{path.name}")
        os.close(here)


def garbage(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 16)


def nested(path: Path) -> None:
    path.write_bytes(b"[" * 100_000)


def huge(path: Path) -> None:
    path.touch()
    os.truncate(path, (1 << 30) + 1)  # more than is read into memory; the disk holds none of it


def empty(path: Path) -> None:
    path.touch()


def half_a_pair(path: Path) -> None:
    path.write_bytes(b'{"id": "\\ud800", "a": "\\udfff"}\n')


def other_types(path: Path) -> None:
    path.write_bytes(b'[1, {"a": null}, "x"]\n')


SPECIAL: Final[tuple[OddFile, ...]] = (fifo, directory, dangling, in_a_circle, device, listening)
ODD: Final[tuple[OddFile, ...]] = (*SPECIAL, garbage, nested, huge)
EVERY: Final[tuple[OddFile, ...]] = (*ODD, elsewhere, empty, half_a_pair, other_types)

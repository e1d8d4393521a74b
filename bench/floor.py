"""The raw floor: what the disk itself asks for a durable replacement of a small file."""

from __future__ import annotations

import os


def replace_once(directory: int, name: str, data: bytes) -> None:
    """Bare write + fsync + rename + fsync of the directory, by descriptor, as cheap as it can be had."""
    fd = os.open("draft", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644, dir_fd=directory)
    os.write(fd, data)
    os.fsync(fd)
    os.close(fd)
    os.rename("draft", name, src_dir_fd=directory, dst_dir_fd=directory)
    os.fsync(directory)

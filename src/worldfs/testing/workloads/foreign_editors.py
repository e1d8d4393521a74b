"""Writes of foreign programs: editors that know nothing of the workload."""

from __future__ import annotations

import os
from pathlib import Path

from worldfs.base.disk import Disk
from worldfs.testing.crash_log import DiskOp, Recorder

BESIDE = ".editor-draft"


def rewrite(path: Path, disk: Disk, name: str, data: bytes) -> None:
    """As careful editors do: write a temporary file, sync it, rename it."""
    above, slash, _ = name.rpartition("/")
    draft = f"{above}{slash}{BESIDE}"
    with (path / draft).open("wb", buffering=0) as file:
        file.write(data)
        os.fsync(file.fileno())
    (path / draft).replace(path / name)
    folder = os.open(path / above, os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(folder)
    os.close(folder)
    if isinstance(disk, Recorder):
        written = DiskOp("write", draft, data=data)
        disk.ops += [
            DiskOp("create", draft),
            written,
            DiskOp("sync", draft),
            DiskOp("rename", draft, name),
            DiskOp("sync_dir", above),
        ]


def overwrite(path: Path, disk: Disk, name: str, data: bytes) -> None:
    """As an agent's file tool does: open, truncate, write. Nothing is synced, and a power cut may leave nothing."""
    there = (path / name).exists()
    (path / name).write_bytes(data)
    if isinstance(disk, Recorder):
        disk.ops += [DiskOp("truncate", name) if there else DiskOp("create", name), DiskOp("write", name, data=data)]


def add(path: Path, disk: Disk, name: str, data: bytes) -> None:
    """As `echo >>` does."""
    at = os.stat(path / name).st_size
    with (path / name).open("ab") as file:
        file.write(data)
    if isinstance(disk, Recorder):
        disk.ops.append(DiskOp("write", name, at=at, data=data))


def remove(path: Path, disk: Disk, name: str) -> None:
    os.unlink(path / name)
    if isinstance(disk, Recorder):
        disk.ops.append(DiskOp("unlink", name))

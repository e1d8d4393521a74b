"""Other programs beside a life: editors that know nothing of it, and of the disk only what editors know."""

from __future__ import annotations

import os
from pathlib import Path

from worldfs.ground.disk import Disk

from ..crash_log import Op, Recorder

BESIDE = ".editor-draft"


def rewrite(path: Path, disk: Disk, name: str, data: bytes) -> None:
    """As careful editors do: written beside it, synced, put in its place."""
    above = f"{name.rpartition('/')[0]}/" if "/" in name else ""
    draft = f"{above}{BESIDE}"
    (path / draft).write_bytes(data)
    os.replace(path / draft, path / name)
    if isinstance(disk, Recorder):
        disk.ops += [
            Op("create", draft),
            Op("write", draft, data=data),
            Op("sync", draft),
            Op("rename", draft, name),
            Op("sync_dir", above.rstrip("/")),
        ]


def overwrite(path: Path, disk: Disk, name: str, data: bytes) -> None:
    """As a mind's file tool does: opened, cut, written. Nothing is synced, and a power cut now may leave nothing."""
    there = (path / name).exists()
    (path / name).write_bytes(data)
    if isinstance(disk, Recorder):
        disk.ops += [Op("truncate", name) if there else Op("create", name), Op("write", name, data=data)]


def add(path: Path, disk: Disk, name: str, data: bytes) -> None:
    """As `echo >>` does."""
    at = os.stat(path / name).st_size
    with (path / name).open("ab") as file:
        file.write(data)
    if isinstance(disk, Recorder):
        disk.ops.append(Op("write", name, at=at, data=data))


def remove(path: Path, disk: Disk, name: str) -> None:
    os.unlink(path / name)
    if isinstance(disk, Recorder):
        disk.ops.append(Op("unlink", name))

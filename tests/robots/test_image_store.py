"""Pictures beside the files of a world: a disk that is full leaves no half of one."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import IO

import pytest

from worldfs.robots.mujoco import image_store


def whole(file: IO[bytes]) -> None:
    file.write(b"whole")


def full(file: IO[bytes]) -> None:
    file.write(b"half")
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_no_draft_and_the_picture_of_before(tmp_path: Path) -> None:
    depth = tmp_path / "front_001_depth.npy"
    image_store._whole(depth, whole)
    with pytest.raises(OSError, match="No space"):
        image_store._whole(depth, full)
    assert os.listdir(tmp_path) == [depth.name] and depth.read_bytes() == b"whole"

"""The album: pictures of the scene on disk, whole or not at all, the newest few kept."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import IO

import numpy as np

from worldfs.base.errors import from_os
from worldfs.base.model import Json

from .array_types import Native
from .camera import CameraFrame, CameraRenderer

KEPT = 20  # sets of pictures
_NAME = re.compile(r"(front|wrist)_(\d{3,})(_depth)?\.(png|npy)")


class ImageStore:
    """Writes `camera/front_NNN.png`, `front_NNN_depth.npy` (float32 m, H×W) and `wrist_NNN.png` under `root`.

    `own`: a folder below `camera` that no other robot of the workspace writes to; "": it has no other.

    Paths that it returns start with the root's own name, as ENVIRONMENT.md is in the same folder. Numbers go on where
    an earlier run stopped, so that a path once written never changes its meaning.
    """

    def __init__(self, root: Path, own: str = "") -> None:
        self.root = root
        self.folder = root / "camera" / own
        self.number = max(self._numbers(), default=0)

    def _numbers(self) -> set[int]:
        try:
            names = os.listdir(self.folder)
        except OSError:  # not there yet, or not readable: writing will report it
            return set()
        return {int(m.group(2)) for m in map(_NAME.fullmatch, names) if m}

    def add(self, renderer: CameraRenderer, data: Native) -> Json:
        """Captures and stores a set; returns the `perception` entry. Errors: the disk's, in the words of `durable`."""
        front = renderer.capture(data, "front", depth=True)
        wrist = renderer.capture(data, "wrist")
        self.number += 1
        stem = f"{self.number:03d}"
        try:
            os.makedirs(self.folder, exist_ok=True)
            write_png(self.folder / f"front_{stem}.png", front)
            assert front.depth is not None
            depth = front.depth
            _whole(self.folder / f"front_{stem}_depth.npy", lambda file: np.save(file, depth))
            write_png(self.folder / f"wrist_{stem}.png", wrist)
            self._prune()
        except OSError as error:
            raise from_os(error, path=str(self.folder), op="keep a picture") from error
        where = f"{self.root.name}/{self.folder.relative_to(self.root).as_posix()}"
        return {
            "camera_rgb": f"{where}/front_{stem}.png",
            "depth": f"{where}/front_{stem}_depth.npy",
            "wrist_rgb": f"{where}/wrist_{stem}.png",
        }

    def _prune(self) -> None:
        for name in os.listdir(self.folder):
            found = _NAME.fullmatch(name)
            if found and int(found.group(2)) <= self.number - KEPT:
                os.unlink(self.folder / name)


def write_png(path: Path, frame: CameraFrame) -> None:
    from PIL import Image

    assert frame.rgb is not None
    picture = Image.fromarray(frame.rgb)
    _whole(path, lambda file: picture.save(file, format="PNG", compress_level=3))


def _whole(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    """A reader sees the old file or the new one; pictures can be taken again, so nothing is synced."""
    draft = path.with_name(f".{path.name}.new")
    try:
        with open(draft, "wb") as file:
            write(file)
        os.replace(draft, path)
    except BaseException:  # a full disk
        draft.unlink(missing_ok=True)
        raise

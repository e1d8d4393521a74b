"""The film: frames of the front camera as they happen, to an animated GIF or an MP4."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

from ...ground.errors import BadInput, Missing
from .types import Image

GIF_SIZE = (480, 360)


class Film(Protocol):
    """Takes frames (H, W, 3) of equal size; `close` finishes the file and is idempotent."""

    frames: int

    def add(self, frame: Image) -> None: ...

    def close(self) -> None: ...


def film(path: Path, fps: int) -> Film:
    """A film for the suffix of `path`. Errors: `BadInput` for another suffix, `Missing` when MP4 lacks its library."""
    suffix = path.suffix.lower()
    if suffix == ".gif":
        return Gif(path, fps)
    if suffix == ".mp4":
        return Mp4(path, fps)
    raise BadInput(f"cannot record {path.name}", op="record", expected="a name ending in .gif or .mp4", fix="use .gif")


class Gif:
    """Frames are kept small and in 128 colours until the end: an animated GIF is written in one go."""

    def __init__(self, path: Path, fps: int) -> None:
        self.path, self.fps, self.frames = path, fps, 0
        self._pictures: list[Any] = []

    def add(self, frame: Image) -> None:
        from PIL import Image as Pillow

        small = Pillow.fromarray(frame).resize(GIF_SIZE)
        self._pictures.append(small.quantize(128, dither=Pillow.Dither.NONE))
        self.frames += 1

    def close(self) -> None:
        if not self._pictures:
            return
        first, *rest = self._pictures
        draft = self.path.with_name(f".{self.path.name}.new")
        with open(draft, "wb") as file:
            duration = round(1000 / self.fps)
            first.save(file, format="GIF", save_all=True, append_images=rest, duration=duration, loop=0)
        os.replace(draft, self.path)
        self._pictures = []


class Mp4:
    def __init__(self, path: Path, fps: int) -> None:
        try:
            import av
        except ImportError as error:
            raise Missing(
                "MP4 needs the library av", op="record", fix="pip install 'worldfs[video]', or record a .gif"
            ) from error
        self.path, self.frames = path, 0
        self._av: Any = av
        self._file: Any = av.open(os.fspath(path), "w")
        self._stream: Any = self._file.add_stream("libx264", rate=Fraction(fps))
        self._stream.pix_fmt = "yuv420p"
        self._stream.options = {"preset": "veryfast", "crf": "23"}

    def add(self, frame: Image) -> None:
        if self.frames == 0:  # the encoder opens with the first frame and keeps its size
            self._stream.height, self._stream.width = frame.shape[:2]
        for packet in self._stream.encode(self._av.VideoFrame.from_ndarray(frame, format="rgb24")):
            self._file.mux(packet)
        self.frames += 1

    def close(self) -> None:
        if self._file is None:
            return
        if self.frames:
            for packet in self._stream.encode():
                self._file.mux(packet)
        self._file.close()
        self._file = None

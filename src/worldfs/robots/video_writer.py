"""A film: frames of a camera into .mp4 (H.264) or .gif."""

from __future__ import annotations

import os
from fractions import Fraction
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.extras import needs
from worldfs.base.messages import coded

if TYPE_CHECKING:
    from av import VideoStream
    from av.container import OutputContainer
    from numpy import uint8
    from numpy.typing import NDArray
    from PIL.Image import Image as Picture

    Frame = NDArray[uint8]  # height × width × 3, RGB

FPS = 25
GIF_FPS = 15  # above that, every second frame
GIF_SIZE = (480, 360)


class VideoContainer(Protocol):
    """A container being written."""

    def add(self, frame: Frame) -> None: ...

    def close(self) -> None: ...


def kind_of(path: str) -> str:
    """ ".mp4" or ".gif". Raises `BadInput` for what can be no film, or has no place to be."""
    kind = os.path.splitext(path)[1].lower()
    if kind not in (".mp4", ".gif"):
        raise BadInput(
            coded("robot.film_kind", kind=kind or coded("robot.no_ending")),
            path=path,
            expected=coded("robot.film_names"),
        )
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise BadInput(
            coded("tree.no_such_directory"),
            path=folder,
            expected=coded("robot.existing_directory"),
            fix=f"mkdir -p {folder}",
        )
    return kind


class VideoWriter:
    """Takes frames, writes a file when it is closed; a film without frames leaves no file and is an error."""

    def __init__(self, path: str, fps: int = FPS) -> None:
        kind = kind_of(path)
        self.path = path
        self.frames = 0
        self._part = f"{path}.part{kind}"
        self._reel: VideoContainer = (
            _Mp4Container(self._part, fps) if kind == ".mp4" else _GifContainer(self._part, fps)
        )

    def add(self, frame: Frame) -> None:
        """One picture, RGB, always of the same size."""
        self._reel.add(frame)
        self.frames += 1

    def close(self) -> None:
        """Raises `MissingRequirement` when no camera gave a frame."""
        if self.frames == 0:
            self.discard()
            raise MissingRequirement(
                coded("robot.no_frame"),
                path=self.path,
                op="--record",
                fix=coded("robot.with_cameras"),
            )
        self._reel.close()
        os.replace(self._part, self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if error is None:
            self.close()
        else:
            self.discard()

    def discard(self) -> None:
        """Leave no file."""
        self._reel.close()
        if os.path.exists(self._part):
            os.unlink(self._part)


class _Mp4Container:
    def __init__(self, path: str, fps: int) -> None:
        with needs("video", op="film", path=path):
            import av
        self._path, self._fps = path, fps
        self._av = av
        self._open: tuple[OutputContainer, VideoStream] | None = None
        self._count = 0

    def add(self, frame: Frame) -> None:
        if self._open is None:
            container = self._av.open(self._path, "w", format="mp4")
            stream = container.add_stream("libx264", rate=self._fps)
            # 4:2:0 is what players want; it needs even sides.
            stream.height, stream.width = frame.shape[0] // 2 * 2, frame.shape[1] // 2 * 2
            stream.pix_fmt = "yuv420p"
            stream.options = {"crf": "23", "preset": "veryfast"}
            self._open = container, stream
        container, stream = self._open
        even = frame[: stream.height, : stream.width]
        picture = self._av.VideoFrame.from_ndarray(even.copy(), format="rgb24")
        picture.pts, picture.time_base = self._count, Fraction(1, self._fps)
        self._count += 1
        for packet in stream.encode(picture):
            container.mux(packet)

    def close(self) -> None:
        if self._open is not None:
            container, stream = self._open
            for packet in stream.encode():
                container.mux(packet)
            container.close()
            self._open = None


class _GifContainer:
    """Small pictures, and not too many: a GIF's clock has steps of 10 ms, and its files are large.

    Colours by octree: a palette by popularity has none left for a small red thing on a large table.
    """

    def __init__(self, path: str, fps: int) -> None:
        from PIL import Image

        self._path, self._fps = path, fps
        self._every = 2 if fps > GIF_FPS else 1
        self._image = Image
        self._pictures: list[Picture] = []
        self._count = 0

    def add(self, frame: Frame) -> None:
        if self._count % self._every == 0:
            picture = self._image.fromarray(frame)
            picture.thumbnail(GIF_SIZE)
            octree, plain = self._image.Quantize.FASTOCTREE, self._image.Dither.NONE
            self._pictures.append(picture.quantize(256, octree, dither=plain))
        self._count += 1

    def close(self) -> None:
        if self._pictures:
            first, *rest = self._pictures
            first.save(self._path, save_all=True, append_images=rest, duration=1000 * self._every // self._fps, loop=0)
            self._pictures = []

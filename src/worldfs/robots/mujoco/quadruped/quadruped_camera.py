"""Pictures and films of a quadruped: what its head sees, and the floor with it from above."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from worldfs.base.errors import MissingRequirement, WorldError, from_os
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.robots.mujoco.camera import CameraRenderer
from worldfs.robots.mujoco.image_store import write_png
from worldfs.robots.video_writer import VideoWriter

from . import floor_camera
from .gait import TICK
from .quadruped_model import CAMERA
from .walker import Walker

PICTURES: Final = ((CAMERA, "head"), (floor_camera.CAMERA, "front"))  # of the model, and what their files are called


class QuadrupedCamera:
    """The cameras of one quadruped; `off`: it has none."""

    def __init__(self, off: bool) -> None:
        self._off = off
        self._walker: Walker | None = None
        self._renderer: CameraRenderer | None = None
        self._film: VideoWriter | None = None
        self._fps = 10

    def point_at(self, walker: Walker | None) -> None:
        """The present world; None: there is none any more."""
        if self._renderer is not None:
            self._renderer.close()
        self._renderer, self._walker = None, walker
        if self._film is not None and walker is not None:
            self._attach(self._film, walker)

    def photograph(self, job: Path | None) -> str:
        """Keeps `head.png` and `front.png` beside the job's own files; what went wrong, if anything did."""
        if self._off or job is None or not job.is_dir() or self._walker is None:
            return ""
        try:
            renderer = self._open(self._walker)
            for camera, name in PICTURES:
                write_png(job / f"{name}.png", renderer.capture(self._walker.view.simulation.data, camera))
        except MissingRequirement as missing:
            self._off = True  # the body goes on blind
            return error_message(missing)
        except OSError as error:
            return error_message(from_os(error, path=str(job), op="keep a picture"))
        except WorldError as error:
            return error_message(error)
        return ""

    def record(self, path: Path, fps: int) -> None:
        """Raises `MissingRequirement` without cameras, OpenGL or an encoder, `BadInput` for another suffix."""
        if self._off:
            off = coded("robot.the_cameras_off")
            raise MissingRequirement(off, op="record", fix=coded("robot.without_no_cameras"))
        self._film, self._fps = VideoWriter(os.fspath(path), fps), fps
        if self._walker is not None:
            self._attach(self._film, self._walker)

    def stop_recording(self) -> int:
        if self._film is None:
            return 0
        done, self._film = self._film, None
        if self._walker is not None:
            self._walker.watch = None
        if done.frames:
            done.close()
        else:
            done.discard()
        return done.frames

    def _attach(self, film: VideoWriter, walker: Walker) -> None:
        renderer = self._open(walker)

        def frame() -> None:
            picture = renderer.capture(walker.view.simulation.data, floor_camera.CAMERA).rgb
            assert picture is not None
            film.add(picture)

        walker.watch_every, walker.watch = max(1, round(1 / (self._fps * TICK))), frame

    def _open(self, walker: Walker) -> CameraRenderer:
        if self._renderer is None:
            self._renderer = CameraRenderer(walker.view)
        return self._renderer

"""The pictures that ENVIRONMENT.md names, one after the other, as frames of a film.

They are what any process can see of the camera, whoever runs the kernel: one picture for each observation.
"""

from __future__ import annotations

import re
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from worldfs.drivers.film import FPS, Film
from worldfs.ground.errors import WorldError

from .call import Call

_RGB = re.compile(rb'"?camera_rgb"?\s*:\s*"?([^"\s,}]+)')
_REST = FPS // 2  # frames for which each picture stands


class Pictures:
    """While inside, each new picture goes into `film`; seen through a world of its own."""

    def __init__(self, call: Call, film: Film) -> None:
        self.call, self.film = call, film
        self._over = threading.Event()
        self._world = call.open()
        self._watch = self._world.watch()
        self._seen: tuple[str, int] | None = None
        self._thread = threading.Thread(target=self._run, name="film", daemon=True)

    def _run(self) -> None:
        last = False
        while not last:
            self._take()
            self._watch.read()
            last = self._over.is_set()
        self._take()

    def _take(self) -> None:
        from PIL import Image

        path = self._picture()
        try:
            if path is None or self._seen == (seen := (str(path), path.stat().st_mtime_ns)):
                return
            import numpy

            with Image.open(path) as image:
                frame = numpy.asarray(image.convert("RGB"))
        except OSError:
            return  # it is gone already, or not a picture: the next one will be
        self._seen = seen
        for _ in range(_REST):
            self.film.add(frame)

    def _picture(self) -> Path | None:
        try:
            text = self._world.tree.read(self._world.resolve("ENVIRONMENT.md"), self.call.actor)
        except WorldError:
            return None
        found = _RGB.search(text)
        root = self.call.workspace.resolve()
        # Paths are relative to ENVIRONMENT.md, and stay inside (workspace_protocol D35).
        path = (root / found[1].decode("utf-8", "replace")).resolve() if found else None
        return path if path is not None and path.is_relative_to(root) else None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._over.set()
        self._watch.wake()
        self._thread.join()
        self._watch.close()
        self._world.close()

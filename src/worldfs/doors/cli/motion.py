"""The film that a body makes of its own motion, where this very process serves its kernel."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

if TYPE_CHECKING:
    from worldfs.kernel.dispatch import Lane
    from worldfs.world.world import World

FPS = 10  # frames for each simulated second


@runtime_checkable
class Filming(Protocol):
    """A body that can film itself while it moves."""

    def record(self, path: Path, fps: int) -> None: ...

    def stop_recording(self) -> int: ...


class Motion:
    """While inside, the body films into `path`. Raises what `record` raises, before anything moves."""

    def __init__(self, lane: Lane, body: Filming, path: str) -> None:
        self._lane, self._body, self._path = lane, body, Path(path)
        self.frames = 0

    @staticmethod
    def of(world: World, node: str | None, path: str) -> Motion | None:
        """None where the kernel is another process's, or the body cannot film."""
        if world.kernel is None:
            return None
        id = world.desk(node).robot_id
        body = world.kernel.nodes[id].driver
        return Motion(world.kernel.lanes[id], body, path) if isinstance(body, Filming) else None

    def __enter__(self) -> Self:
        self._lane.call(lambda: self._body.record(self._path, FPS))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._lane.call(self._stop)
        if self.frames == 0:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._path)  # an encoder begins its file before the first frame

    def _stop(self) -> None:
        self.frames = self._body.stop_recording()

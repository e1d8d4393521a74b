"""A kernel served by this process: in a thread, for as long as a command needs it."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from worldfs.world.world import World


class KernelThread:
    """Runs `world` until left; an error of the kernel is raised by `check`, or on leaving."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.stop = threading.Event()
        self.broken: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="kernel", daemon=True)

    def _run(self) -> None:
        try:
            self.world.run(stop=self.stop)
        except BaseException as error:
            self.broken = error

    def check(self) -> None:
        if self.broken is not None:
            raise self.broken

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.stop.set()
        self.world.wake()
        self._thread.join()
        if error is None:
            self.check()

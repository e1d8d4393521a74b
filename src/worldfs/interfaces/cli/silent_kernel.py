"""The end of a client whose kernel does not answer: a frozen kernel may hold a lock for which the client waits."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

from worldfs.base.stop_signal import StopSignal
from worldfs.runtime.grace import SAFE_STOP_S
from worldfs.world.robot_stops import KernelSilent

if TYPE_CHECKING:
    from worldfs.world.world import World


class SilentKernelEnd:
    """While entered: once `stop` is set, the kernel of `world` is asked again and again whether it is there. Where it
    is not, `report` says so and gives the exit code, and this process ends at once, whatever its main thread waits for.

    `world` is set once an order can be given; `job` is the last order.
    """

    world: World | None = None

    def __init__(self, stop: StopSignal, report: Callable[[KernelSilent], int]) -> None:
        self._report = report
        self.job: Callable[[], str] = str
        self._over, self._one = threading.Event(), threading.Lock()
        self._code: int | None = None
        self._calling = stop.calling(lambda: threading.Thread(target=self._watch, daemon=True).start())

    def reported(self, error: KernelSilent) -> int:
        """The same report, by the main thread; never a second time."""
        with self._one:
            if self._code is None:
                self._code = self._report(error)
            return self._code

    def __enter__(self) -> Self:
        self._calling.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        with self._one:
            self._over.set()
        self._calling.__exit__(kind, error, tb)

    def _watch(self) -> None:
        while not self._over.wait(SAFE_STOP_S):
            if self.world is None:
                continue
            try:
                self.world.robot_stops.demand_answer(self.job())
            except KernelSilent as silent:
                code = self.reported(silent)
                with self._one:
                    if self._over.is_set():
                        return
                    with suppress(Exception):  # a pipe without a reader, or what a plug-in has put there
                        sys.stdout.flush()
                        sys.stderr.flush()
                    os._exit(code)

"""The orchestrator of a world that serves: a thread of its own beside the kernel."""

from __future__ import annotations

import threading
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

from worldfs.base.errors import Busy, WorldError
from worldfs.base.messages import coded
from worldfs.base.model import Finding
from worldfs.fleet.orchestrator_loop import LEASE, Orchestrator

from .mission_executor import MissionThreads

if TYPE_CHECKING:
    from worldfs.runtime.kernel import Kernel

    from .world import World

_END_S = 10.0  # how long missions at work may take to stop safely
_STOP_S = 0.5  # between two looks whether it was asked to stop


class Orchestration:
    """Entered while the kernel runs. Without a thread, tests call `loop.step` themselves."""

    def __init__(self, world: World, kernel: Kernel, loop: Orchestrator, threads: MissionThreads) -> None:
        self._world, self._kernel, self.loop, self._threads = world, kernel, loop, threads
        self._stop = threading.Event()
        self._stepped = threading.Event()
        self._thread: threading.Thread | None = None
        loop.heard = threads.submitted = self._stepped.set
        kernel.stopping.on_standing = loop.wake

    def __enter__(self) -> Self:
        if self._thread is None:
            self._stop.clear()
            self.loop.step()  # what is queued already has begun before the kernel asks whether it is idle
            self._thread = threading.Thread(target=self._run, name="orchestrator", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Missions at work stop safely, for which the kernel goes on; they stay theirs until the next start."""
        self.loop.request_stop()
        clock = self._world.clock
        end = clock.monotonic() + _END_S
        while error is None and self.loop.working and clock.monotonic() < end and self.loop.broken is None:
            self._stepped.clear()
            self._kernel.tick()
            self._stepped.wait(0.02)
        self._stop.set()
        self.loop.wake()
        if self._thread is not None:
            self._thread.join(_END_S)
            self._thread = None

    def _run(self) -> None:
        with suppress(WorldError):  # an alert says so already (ORCHESTRATOR_ENDED)
            self.loop.run(self._stop)

    def wait_for_jobs(self, stop: threading.Event) -> bool:
        """Until a mission has given the kernel something to do; False: none is at work, all of them wait for a person,
        or it was asked to stop."""
        while self.loop.working and not stop.is_set() and self.loop.broken is None and not self.loop.waits_for_persons:
            self._stepped.clear()
            self._kernel.tick()
            if not self._kernel.idle:
                return True
            self._stepped.wait(_STOP_S)
        return False

    def close(self) -> None:
        self.loop.close()
        self._threads.close()


def open_orchestration(world: World, kernel: Kernel, project: str) -> Orchestration | None:
    """Before the first tick of the kernel. None, with an alert: another process has the orchestrator of this root."""
    threads = MissionThreads(world, kernel, project)
    try:
        loop = Orchestrator(
            world.store,
            world.clock,
            threads,
            language=world.language,
            alert=kernel.alert,
            always_shown=bool(world.stores.robots),
        )
    except Busy as error:
        kernel.alert("orchestrator", Finding(error.code, LEASE, coded("mission.one_loop"), error.found, error.fix))
        return None
    loop.recover()
    return Orchestration(world, kernel, loop, threads)

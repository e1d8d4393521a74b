"""A job of a server, followed to its end, which a server that no longer answers does not put off for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

from worldfs.base.errors import WorldError
from worldfs.base.messages import coded
from worldfs.runtime.grace import SAFE_STOP_S
from worldfs.world.robot_stops import ANSWER_S, KernelSilent

if TYPE_CHECKING:
    from worldfs.client.blocking import BlockingJob, BlockingWorld
    from worldfs.client.remote_types import JobResult, Json


class FollowedJob:
    """`lines`, then `ended`. Every call to the server is made by a thread of its own: it may hang."""

    ended: JobResult

    def __init__(self, world: BlockingWorld, job: BlockingJob) -> None:
        self._world, self._job = world, job
        self._said: SimpleQueue[Json | JobResult | WorldError] = SimpleQueue()
        self._over = threading.Event()
        self._asked = False
        self._begin(self._follow)

    def lines(self) -> Iterator[Json]:
        """The lines of its log as they come. Raises `KernelSilent` once nothing is known of a cancelled one."""
        while isinstance(said := self._said.get(), dict):
            yield said
        self._over.set()
        if not isinstance(said, WorldError):
            self.ended = said
        elif self._asked:
            raise KernelSilent(coded("stop.server_silent"), fix=coded("stop.hardware")) from said
        else:
            raise said

    def cancel(self) -> None:
        self._asked = True
        self._begin(self._cancel)
        self._begin(self._watch)

    def _begin(self, work: Callable[[], None]) -> None:
        threading.Thread(target=work, daemon=True).start()

    def _follow(self) -> None:
        try:
            for line in self._job.progress():
                self._said.put(line)
            self._said.put(self._job.result())
        except WorldError as error:
            self._said.put(error)

    def _cancel(self) -> None:
        with suppress(WorldError):  # the job has ended, or the connection has: who follows it reports that
            self._job.cancel()

    def _watch(self) -> None:
        """A job takes its time to end; the server is asked whether it is there."""
        while not self._over.wait(SAFE_STOP_S):
            try:
                self._world.read(f"{self._job.path}/status.json", wait=0, timeout=ANSWER_S)
            except WorldError as error:
                return self._said.put(error)

"""Where a robot stands of which it was doubted that it does: read before anything that it held is free for others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worldfs.base.model import Job
    from worldfs.runtime.kernel import Kernel


class RestPlaces:
    """Asked again and again; each place is read by the robot's own lane after the robot was measured to stand."""

    def __init__(self, kernel: Kernel, mobile: Callable[[str], bool], found: Callable[[], None]) -> None:
        """`mobile`: whether a robot travels, so that it has to say where it is; `found`: called when that is known."""
        self._kernel, self._mobile, self._found = kernel, mobile, found
        self._lock = threading.Lock()
        self._asked: dict[str, bool] = {}  # order → whether the place is read; one that is being read has none yet

    def known(self, job: Job) -> bool:
        """Whether the order's robot stands, and ENVIRONMENT.md has where; it is read now where that is not so."""
        lane = self._kernel.lanes.get(job.order.node)  # first: the robot may be removed at any time
        stands = self._kernel.stopping.demand_standstill(job.order.node)
        with self._lock:
            if lane is None or not stands:
                self._asked.pop(job.id, None)
                return False
            if job.id in self._asked:
                return self._asked[job.id] and self._asked.pop(job.id)
            self._asked[job.id] = False
        lane.submit(partial(self._read, job))
        return False

    def _read(self, job: Job) -> None:
        """One that does not know where it is is asked again, when something else changes."""
        node, read = job.order.node, False
        with suppress(Exception):  # whatever a driver raises: where it stands is not known
            robot = self._kernel.hooks.observe(node).robot(node)
            read = not self._mobile(node) or (robot is not None and len(robot.pose) >= 2)
        with self._lock:
            if job.id not in self._asked:  # it moved meanwhile
                return
            if not read:
                del self._asked[job.id]
                return
            self._asked[job.id] = True
        self._found()

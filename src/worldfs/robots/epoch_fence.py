"""The fence at a body that several kernels can reach: commands of a kernel that has lost its lease move nothing."""

from __future__ import annotations

import threading


class EpochFence:
    """Kept where the body is, in a process that outlives every kernel: a stalled kernel cannot know that another one
    has its lease. `Run.epoch` is what each command carries."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._highest = 0

    def admit(self, epoch: int) -> bool:
        """Whether a command of that epoch may move the body: none of a higher one has been seen."""
        with self._lock:
            self._highest = max(self._highest, epoch)
            return epoch == self._highest

"""A read that is answered several times: each answer is what is new since the one before.

The replies are made in the step that wakes the waiters: no task, no future and no timer for each of them.
"""

from __future__ import annotations

from collections.abc import Callable

from worldfs.tree.verb_values import Wait

from .fids import Fid, FidTable
from .waiters import Waiters

Send = Callable[[bytes], bool]  # False: no more can be sent now


def can_repeat(held: Fid) -> bool:
    """Whether its next read waits for what it can be told from memory."""
    light = held.node.light and held.own is None and held.staging is None
    return light and held.node.wait(held.kept or b"") is not None


class RepeatedRead:
    """Of a fid that can repeat, and has been read once."""

    def __init__(self, held: Fid, fids: FidTable, replies: int, send: Send) -> None:
        self._held, self._fids, self._left, self._send = held, fids, replies, send
        self._wait: Wait | None = None
        self._unsent: bytes | None = None

    async def run(self, waiters: Waiters, timeout: float | None) -> bytes:
        """Send all replies but the last, and return that; after `timeout` seconds (None: the file's own) it comes with
        nothing new."""
        held, first = self._held, self._next_wait()
        self._wait = first
        if first is not None:
            if held.waits is None:
                held.waits = set()
            over = Wait(first.topics, lambda: self._over(first.topics), first.timeout)
            await waiters.wait(over, timeout, held.waits)
        return self._read() if self._unsent is None else self._unsent

    def _over(self, topics: tuple[str, ...]) -> bool:
        """Send what is new; whether only the last reply is left."""
        while self._wait is not None and self._wait.topics == topics:
            if not self._wait.ready():
                return False
            self._left -= 1
            if self._left <= 0:
                return True
            data = self._read()
            if not self._send(data):
                self._unsent = data
                return True
            self._wait = self._next_wait()
        return True  # it no longer waits, or for something else

    def _next_wait(self) -> Wait | None:
        return self._held.node.wait(self._held.kept or b"")

    def _read(self) -> bytes:
        data = self._held.node.read(self._held.kept or b"").data
        self._fids.keep(self._held, data)
        return data

"""Timer of the control plane: lease expiry and reconciliation cycles, when they are due."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from .server_ports import RealmPort

SOON_S: Final = 0.25  # after a change of nodes or projects (acheron §3.3)
_OF: Final = ("/nodes", "/projects")
_LOG: Final = logging.getLogger("worldfs.acheron")


class PlaneTicker:
    """Sleeps until the plane's next due time. A change wakes it, because the due time may be earlier now."""

    def __init__(
        self,
        realm: RealmPort,
        tick: Callable[[], Awaitable[float | None]],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._realm, self._tick, self._loop = realm, tick, loop
        self._changed = asyncio.Event()
        self._seq = 0  # of the last publication that was heard; a frame of a stream is none
        self._task: asyncio.Task[None] | None = None
        self._end: Callable[[], None] = lambda: None

    def start(self) -> None:
        self._end = self._realm.feed.listen(self._on_change)
        self._task = self._loop.create_task(self._run())

    async def stop(self) -> None:
        self._end()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def _on_change(self, seq: int, topics: tuple[str, ...]) -> None:
        published, self._seq = seq != self._seq, seq
        if published and not self._changed.is_set() and any(topic.startswith(_OF) for topic in topics):
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._changed.set)

    async def _run(self) -> None:
        while True:
            self._changed.clear()
            try:
                due = await self._tick()
            except Exception:
                _LOG.exception("the plane's tick failed")
                due = 5.0
            with suppress(TimeoutError):  # not `wait_for`, which swallows a cancellation beside a change
                async with asyncio.timeout(due):
                    await self._changed.wait()
            if self._changed.is_set():
                await asyncio.sleep(SOON_S)  # several changes, one tick

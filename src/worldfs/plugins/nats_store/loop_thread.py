"""An event loop in a thread of its own, for callers that block."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import TypeVar

T = TypeVar("T")


class LoopClosed(Exception):
    """The loop has ended, and what it ran with it."""


class LoopThread:
    """One for each connection. `run` is called from any thread but its own."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._gate = threading.Lock()  # what comes in before the end is begun before it
        self._closed = False
        self._thread = threading.Thread(target=self._live, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[object, object, T]) -> T:
        """Run it in the loop and wait for its end. A bare lock wakes the caller in half the time of a future.

        Raises `LoopClosed` once `close` was called, also to callers that wait then.
        """
        ended = threading.Lock()
        ended.acquire()
        made: list[T] = []
        failed: list[BaseException] = []

        async def carry() -> None:
            try:
                made.append(await work)
            except BaseException as error:  # the caller's
                failed.append(error)
            finally:
                ended.release()

        with self._gate:
            if self._closed:
                work.close()
                raise LoopClosed
            self.loop.call_soon_threadsafe(self._begin, carry())
        ended.acquire()
        if failed and isinstance(failed[0], asyncio.CancelledError):  # by `close`
            raise LoopClosed from failed[0]
        if failed:
            raise failed[0]
        return made[0]

    def _begin(self, work: Coroutine[object, object, None]) -> None:
        task = self.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _live(self) -> None:
        """The end is run by this thread too: the closing thread may run a loop of its own (a mount's)."""
        self.loop.run_forever()
        self.loop.run_until_complete(_end_all())
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()

    def close(self) -> None:
        """Cancel what it runs, and wait for the end of that."""
        with self._gate:
            if self._closed:
                return
            self._closed = True
            self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()


async def _end_all() -> None:
    """Its first step comes after those of all tasks that were made before it, so each of them has begun."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

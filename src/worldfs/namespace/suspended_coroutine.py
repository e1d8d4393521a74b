"""A coroutine that starts at once, in the caller's own step: only one that waits becomes a task.

Most requests are answered from memory. A task for each would cost more than the request. (Python 3.12 has eager tasks;
this is the part of them that 3.11 can do.)
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Generic, TypeVar, cast

T = TypeVar("T")


class SuspendedCoroutine(Generic[T]):
    """What is left of a coroutine that waits: to be awaited, once, by a task."""

    __slots__ = ("_first", "_work")

    def __init__(self, work: Coroutine[object, object, T], first: object) -> None:
        self._work, self._first = work, first

    def close(self) -> None:
        """It will not be awaited: let the coroutine clean up, and cancel what it waits for."""
        self._work.close()
        waited = self._first
        if isinstance(waited, asyncio.Future) and not waited.cancel() and not waited.cancelled():
            waited.exception()

    def __await__(self) -> Generator[object, object, T]:
        """Passes on what the coroutine waits for as if the task itself had begun it."""
        work, waited = self._work, self._first
        while True:
            try:
                sent = yield waited
            except GeneratorExit:
                work.close()
                raise
            except BaseException as error:
                try:
                    waited = work.throw(error)
                except StopIteration as end:
                    return cast(T, end.value)
            else:
                try:
                    waited = work.send(sent)
                except StopIteration as end:
                    return cast(T, end.value)


def start_eagerly(work: Coroutine[object, object, T]) -> T | SuspendedCoroutine[T]:
    """Run `work` up to its first wait. Its value if there was none (what it raises is raised here), else its rest.

    Up to the first wait there is no current task of its own: no `asyncio.timeout` there.
    """
    try:
        first = work.send(None)
    except StopIteration as end:
        return cast(T, end.value)
    return SuspendedCoroutine(work, first)

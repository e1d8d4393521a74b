"""Stops, seen while something else is waited for: a person who stops a robot waits for no model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from worldfs.base.errors import WorldError
from worldfs.runtime.stop_log import STOPS
from worldfs.storage.store_interface import Store


@contextmanager
def stops_followed(store: Store, look: Callable[[], bool]) -> Iterator[None]:
    """`look` is called at once and after each stop and resume, from a thread of its own, until it says True."""
    over = threading.Event()

    def listen() -> None:
        with suppress(WorldError):  # the next step of the instruction looks again, and says why it cannot
            while not over.is_set() and not look():
                watch.read(None)

    with store.watch(STOPS) as watch:
        thread = threading.Thread(target=listen, daemon=True, name="stops")
        thread.start()
        try:
            yield
        finally:
            over.set()
            watch.wake()
            thread.join()

"""Stops: a thread of its own hears them ahead of the kernel's loop, and stops the drivers at once."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from worldfs.base.clock import Clock
from worldfs.base.driver import Stoppable
from worldfs.base.errors import WorldError
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import Finding
from worldfs.storage.store_interface import Store

from .alerts import Alerts
from .body_worker import KernelNode
from .job_attempt import JobAttempt
from .stop_log import STOPS, StopLog, StopState


class StopListener:
    """The kernel calls `is_stopped` before each start, under `lock`: no job begins between a stop and its effect."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        nodes: Mapping[str, KernelNode],
        running: Mapping[str, JobAttempt],
        alert: Alerts,
    ) -> None:
        self.lock = threading.Lock()
        self._stops, self._nodes, self._running, self._alert = StopLog(store, clock), nodes, running, alert
        self._monotonic = clock.monotonic
        self._known: dict[str, StopState] = {}
        self._watch = store.watch(STOPS)
        self._closed = threading.Event()

    def is_stopped(self, node: str) -> bool:
        known = self._known.get(node)
        return known is not None and known.stopped

    def listen(self) -> None:
        """Start the thread that hears every stop from now on."""
        threading.Thread(target=self._listen, name="stops", daemon=True).start()

    def refresh(self) -> None:
        """Read which nodes are stopped; end the attempts on nodes that were stopped since the last call."""
        for id in tuple(self._nodes):
            with self.lock:
                new = self._stops.state(id)
                old = self._known.get(id)
                self._known[id] = new
                if old is None or new.number == old.number:
                    continue  # the first call: nothing has begun
                attempt = self._running.get(id)
                if attempt is not None:
                    attempt.stop_node(new, self._monotonic())
            self._stop_driver(id, new)

    def close(self) -> None:
        self._closed.set()
        self._watch.close()

    def _listen(self) -> None:
        while not self._closed.is_set():
            try:
                self._watch.read()
                self.refresh()
            except WorldError as error:  # the kernel fails at its own next write
                if self._closed.is_set():
                    return
                self._alert(
                    STOPS,
                    Finding(error.code, STOPS, coded("runtime.readable_stops"), error_message(error), error.fix),
                )

    def _stop_driver(self, id: str, stop: StopState) -> None:
        """Call the driver's stop, also when it is idle; in a thread of its own, since the call may hang."""
        node = self._nodes.get(id)  # None: it was removed a moment ago
        if node is not None and isinstance(driver := node.driver, Stoppable):
            threading.Thread(target=self._halt, args=(id, driver, stop), name=f"stop {id}", daemon=True).start()

    def _halt(self, id: str, driver: Stoppable, stop: StopState) -> None:
        field = f"stop {id}"
        try:
            driver.stop()
        except Exception as error:  # a library's own
            expected, fix = coded("runtime.still_robot"), coded("runtime.emergency_stop")
            self._alert(field, Finding("STOP_FAILED", field, expected, repr(error), fix))
        else:
            self._alert(field, None)

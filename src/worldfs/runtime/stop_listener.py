"""Stops: a thread of its own hears them ahead of the kernel's loop, and stops the drivers at once."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from worldfs.base.clock import Clock
from worldfs.base.driver import Driver, Stoppable
from worldfs.base.errors import WorldError
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import Cause, Finding, Outcome
from worldfs.storage.store_interface import Store, StoreChange

from .alerts import Alerts
from .body_worker import KernelNode
from .job_attempt import JobAttempt
from .stop_calls import begin_all
from .stop_log import ALL, STOPS, StopState, StopStates, node_of, stop_key

RETRY_S: Final = 0.1  # after a log that could not be read


class StopListener:
    """The kernel calls `is_stopped` before each start, under `lock`: no job begins between a stop and its effect.

    A change costs one read of the log that changed; the kernel's loop reads it, too. `lock` is held until the stop of
    every driver has begun: who passes through it first, a worker before it writes an end, lets a stop go ahead.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        nodes: Mapping[str, KernelNode],
        running: Mapping[str, JobAttempt],
        alert: Alerts,
    ) -> None:
        self.lock = threading.Lock()
        self._states, self._nodes, self._running, self._alert = StopStates(store), nodes, running, alert
        self._monotonic = clock.monotonic
        self._known: dict[str, StopState] = {}
        self._watch = store.watch(STOPS)
        self._closed = threading.Event()

    def is_stopped(self, node: str) -> bool:
        """A node whose log was not read yet counts as stopped."""
        known = self._known.get(node)
        return known is None or known.stopped

    def listen(self) -> None:
        """Start the thread that hears every stop from now on."""
        threading.Thread(target=self._listen, name="stops", daemon=True).start()

    def read_all(self) -> None:
        """Read which nodes are stopped; end the attempts on nodes that were stopped since they were read last."""
        with self.lock:
            self._read(self._states.known_keys(), tuple(self._nodes))

    def read_changes(self, changes: Iterable[StoreChange]) -> None:
        """The same of the logs that have changed."""
        keys = {change.key for change in changes if change.key.startswith(STOPS)}
        if STOPS in keys:  # changes were lost
            self.read_all()
        elif keys:
            with self.lock:
                self._read(keys, tuple(self._nodes) if ALL in keys else map(node_of, keys))

    def unconfirmed(self, attempt: JobAttempt) -> Outcome:
        """A driver that was asked to stop and has not returned: whether its robot holds still is unknown."""
        node, stop = attempt.lane, attempt.stopped
        by, at = (stop.by, stop.at) if stop is not None else ("", "")
        why, fix = coded("runtime.unconfirmed", by=by, node=node), coded("runtime.stop_and_restart")
        expected = coded("runtime.returning_driver")
        self._alert(f"stop {node}", Finding("STOP_UNCONFIRMED", f"stop {node}", expected, why, fix))
        evidence = {"stopped": {"by": by, "at": at}, "held": False}
        return Outcome.failure(
            Cause.CANCELLED, "STOP_UNCONFIRMED", coded("runtime.found_fix", found=why, fix=fix), evidence=evidence
        )

    def returned(self, attempt: JobAttempt) -> None:
        if attempt.stopped is not None:
            self._alert(f"stop {attempt.lane}", None)

    def add(self, node: str) -> None:
        """Of a node that came: nobody has heard its stops."""
        with self.lock:
            self._read((ALL, stop_key(node)), (node,))

    def close(self) -> None:
        self._closed.set()
        self._watch.close()

    def _listen(self) -> None:
        changes: Sequence[StoreChange] = ()
        while not self._closed.is_set():
            try:
                changes = (*changes, *self._watch.read(RETRY_S if changes else None))
                self.read_changes(changes)
                changes = ()
            except WorldError as error:  # the kernel fails at its own next write
                if self._closed.is_set() or error.code == "LEASE_LOST":  # for good: the kernel ends with it
                    return
                self._alert(
                    STOPS,
                    Finding(error.code, STOPS, coded("runtime.readable_stops"), error_message(error), error.fix),
                )

    def _read(self, keys: Iterable[str], ids: Iterable[str]) -> None:
        """Read these logs, and tell the drivers and the attempts of those nodes that were stopped since the last time.

        A log that cannot be read keeps no other robot from being stopped; then its error is raised.
        """
        failed: list[WorldError] = []
        for key in keys:
            try:
                self._states.read(key)
            except WorldError as error:
                failed.append(error)
        stopped = [found for id in ids if (found := self._update(id)) is not None]
        begin_all(partial(self._halt, id, driver) for id, driver, _ in stopped if isinstance(driver, Stoppable))
        for *_, attempt in stopped:
            if attempt is not None:
                attempt.cancel.set()
        if failed:
            raise failed[0]

    def _update(self, id: str) -> tuple[str, Driver, JobAttempt | None] | None:
        """Note the node's state; None: nobody is to be told."""
        node = self._nodes.get(id)
        if node is None:
            return None
        old, new = self._known.get(id), self._states.state(id)
        self._known[id] = new
        if old is None or new.number == old.number:
            return None  # the first reading: nothing has begun
        attempt = self._running.get(id)
        if attempt is not None and not attempt.note_stop(new, self._monotonic()):
            attempt = None
        return id, node.driver, attempt

    def _halt(self, id: str, driver: Stoppable) -> None:
        field = f"stop {id}"
        try:
            driver.stop()
        except Exception as error:  # a library's own
            expected, fix = coded("runtime.still_robot"), coded("runtime.emergency_stop")
            self._alert(field, Finding("STOP_FAILED", field, expected, repr(error), fix))
        else:
            self._alert(field, None)


def close_driver(node: KernelNode, alert: Alerts) -> None:
    """The last work of a lane; a driver that cannot be closed is named, and keeps none of the others open."""
    try:
        node.driver.close()
    except Exception as error:  # a driver may raise anything
        place, expected = coded("runtime.node", id=node.id), coded("runtime.closing_driver")
        alert(node.id, Finding("DRIVER_CLOSE", place, expected, repr(error), coded("runtime.see_driver")))

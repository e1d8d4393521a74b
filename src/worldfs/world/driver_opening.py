"""One driver on its way to work: it is made, opened and observed once, by calls of which each may never return.

All of them are made in the driver's own lane, so a package's code that hangs holds up no other robot.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from worldfs.base.driver import Driver, Simulated
from worldfs.base.errors import StorageError
from worldfs.base.model import Scene
from worldfs.base.plugin_calls import CheckedPlugin
from worldfs.base.plugin_faults import contained
from worldfs.runtime.body_worker import call_name

if TYPE_CHECKING:
    from worldfs.runtime.worker_threads import WorkerThreads

WAIT_S: Final = 5.0  # for all drivers together: then a start goes on, and the orders of the slow ones wait
LIMIT_S: Final = 30.0  # for one driver: then its orders are refused, until it has answered


@dataclass(slots=True, eq=False)
class DriverOpening:
    """`make` and `open` are called in the lane, in this order; the other members are read once `done` is set."""

    node: str
    since: float  # clock.monotonic()
    lane: WorkerThreads
    body: Driver | None = None
    call: str = "start"  # the one that has not returned
    told: Scene = field(default_factory=Scene)
    joins: bool = False
    built: Scene | None = None  # what a simulation built: as it was seen at once
    error: BaseException | None = None  # why it could not be opened
    unseen: Exception | None = None  # why it could not be observed
    asked: bool = False  # `open` is called, or will be
    aside: bool = False  # it was too late: other work of its node is done in another lane
    made: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)
    _gone: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def calling(self) -> str:
        """The call that has not returned, by the name of the package whose code it is."""
        return self.call if self.body is None else call_name(self.body, self.call)

    @property
    def theirs(self) -> str:
        """The last call, if a package's code was called; "": ours was."""
        return self.calling if isinstance(self.body, CheckedPlugin) else ""

    def make(self, name: str, maker: Callable[[], Driver]) -> None:
        self.call = name
        try:
            self.body = contained(maker, name)
        except BaseException as error:  # the kernel's thread raises it
            self.error = error
        finally:
            self.made.set()

    def open(self, opened: Callable[[], None], observe: Callable[[Driver], Scene], ended: Callable[[], None]) -> None:
        """`opened` is called once the body is open; `ended` at last, whatever happens."""
        try:
            if self.body is not None and self.error is None:
                self._open(self.body, opened, observe)
        except BaseException as error:  # the kernel's thread raises it, or says it
            self.error = error
        finally:
            self.finish(ended)

    def _open(self, body: Driver, opened: Callable[[], None], observe: Callable[[Driver], Scene]) -> None:
        self.call = "open"
        contained(lambda: body.open(self.told), self.calling)
        opened()
        self.call = "assumed"
        assumed = None
        with suppress(Exception):  # of a package; the observation says so
            assumed = contained(body.assumed, self.calling) if isinstance(body, Simulated) else None
        self.call = "observe"
        try:
            seen = contained(lambda: observe(body), self.calling)
            self.built = seen if assumed is not None and assumed != Scene() else None
        except StorageError:
            raise
        except Exception as error:  # a driver may raise anything
            self.unseen = error

    def finish(self, ended: Callable[[], None]) -> None:
        """The call has returned. If its robot is gone meanwhile, the driver is closed."""
        with self._lock:
            self.done.set()
            gone = self._gone
        if gone:
            self._close()
        ended()

    def close(self) -> None:
        """The driver is needed no more: it is closed now, or as soon as its call has returned."""
        with self._lock:
            self._gone = True
            done = self.done.is_set()
        if done:
            self._close()

    def _close(self) -> None:
        if self.body is not None:
            with suppress(Exception):  # a driver may raise anything
                contained(self.body.close, self.node)

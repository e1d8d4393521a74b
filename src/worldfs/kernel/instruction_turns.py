"""Turns: one instruction at a time for each robot, however many steps it has and whoever carries it out.

    .paos/turns/<node>.lock             locked by the instruction that is carried out; says which, and its present job
    .paos/turns/<node>.<time>.<pid>     locked by one that waits; the earliest goes next

The operating system lets a lock go when its holder dies, so a killed instruction keeps nobody waiting. Actions that are
accepted during an instruction wait for its end; those that were accepted before it go first.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from worldfs.ground.clock import Clock, parse_stamp
from worldfs.ground.errors import Busy, NotFound
from worldfs.ground.model import Job
from worldfs.tree.stores.disk_store import DiskStore
from worldfs.tree.stores.root_lock import RootLock, lock_holder
from worldfs.tree.stores.store_interface import Store

TURNS: Final = ".paos/turns"
LOOK_S: Final = 0.1  # between two looks of one that waits
Holder = Mapping[str, Any]  # of a lock: pid, command, started_at, purpose, and the instruction's present job


class InstructionTurn:
    """One instruction's turn at a robot: entered by `first`, held until `leave`."""

    def __init__(self, store: DiskStore, node: str, what: str, clock: Clock) -> None:
        self._store, self._node, self._what, self._clock = store, node, what, clock
        self._lock: RootLock | None = None
        self._name = f"{node}.{time.time_ns():020d}.{os.getpid()}_{threading.get_ident()}"
        self._place = self._held(f"{TURNS}/{self._name}").acquire()

    def first(self) -> Holder | None:
        """None: the robot is ours. Else the instruction that we wait for."""
        if self._lock is not None:
            return None
        for name in self._store.list(TURNS):
            if name.rsplit(".", 2)[0] == self._node and name < self._name:
                ahead = self._alive(f"{TURNS}/{name}")
                if ahead is not None:
                    return current_instruction(self._store, self._node) or ahead
        by = current_instruction(self._store, self._node)
        if by is not None:
            return by
        try:
            self._lock = self._held(turn_lock_key(self._node)).acquire()
        except Busy:
            return current_instruction(self._store, self._node) or {}
        self._drop()  # after the lock is ours: the kernel hears this change, and looks
        return None

    def carries(self, job: str) -> None:
        """The job that comes next belongs to this instruction."""
        if self._lock is not None:
            self._lock.note(job=job)

    def leave(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None
        self._drop()

    def _held(self, key: str) -> RootLock:
        return RootLock(self._store.root.path, self._what, clock=self._clock, key=key)

    def _drop(self) -> None:
        self._place.release()
        with suppress(NotFound):
            self._store.delete(f"{TURNS}/{self._name}", durable=False)

    def _alive(self, key: str) -> Holder | None:
        """Who waits there; what a dead process left is removed."""
        found = lock_holder(self._store.root.path, key)
        if found is None:
            with suppress(NotFound):
                self._store.delete(key, durable=False)
        return found


class HeldTurns:
    """The kernel's knowledge of turns: read when the change feed says so."""

    def __init__(self, store: Store, nodes: Iterable[str]) -> None:
        self._store = store if isinstance(store, DiskStore) else None
        self._nodes = nodes
        self._by: dict[str, Holder] = {}
        self.look()

    def look(self) -> None:
        if self._store is not None:
            found = {id: current_instruction(self._store, id) for id in tuple(self._nodes)}
            self._by = {id: by for id, by in found.items() if by is not None}

    def allows(self, job: Job) -> bool:
        """May it start, or does it wait for the end of another's instruction?"""
        node = job.order.node
        if self._store is None or node not in self._by:
            return True
        by = current_instruction(self._store, node)
        if by is None:
            del self._by[node]
            return True
        began, accepted = parse_stamp(str(by.get("started_at", ""))), parse_stamp(job.status.accepted_at)
        if began is not None and accepted is not None and accepted < began:
            return True
        return bool(by.get("job") == job.id)

    @property
    def any(self) -> bool:
        return bool(self._by)


def turn_lock_key(node: str) -> str:
    return f"{TURNS}/{node}.lock"


def current_instruction(store: Store, node: str) -> Holder | None:
    """The instruction that a robot carries out now; None: none, or nobody can tell."""
    if not isinstance(store, DiskStore):
        return None
    for _ in range(3):  # it may be signed at this moment
        found = lock_holder(store.root.path, turn_lock_key(node))
        if found != {}:
            break
        time.sleep(0.001)
    return found

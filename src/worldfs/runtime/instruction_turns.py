"""Turns: each robot executes one instruction at a time, however many steps it has and whichever process plans it.

    .paos/turns/<node>.lock             locked by the instruction that is executed; names it and its present job
    .paos/turns/<node>.<time>.<pid>     locked by a waiting one; the earliest is next

The operating system releases a lock when its holder dies, so a killed instruction blocks no other. Actions that are
accepted during an instruction wait for its end; those that were accepted before it run first.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

from worldfs.base.clock import Clock, epoch_ns, parse_stamp
from worldfs.base.errors import Busy, NotFound
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object
from worldfs.base.model import Job
from worldfs.storage.lease import RELEASE_S, Lease
from worldfs.storage.store_interface import Store

TURNS: Final = ".paos/turns"
Holder = Mapping[str, object]  # of a lock: pid, command, started_at, purpose, and the instruction's present job


class InstructionTurn:
    """One instruction's turn at a robot: acquired by `try_acquire`, held until `release`."""

    def __init__(self, store: Store, node: str, what: str, clock: Clock) -> None:
        self._store, self._node, self._what, self._clock = store, node, what, clock
        self._lock: Lease | None = None
        self._name = f"{node}.{epoch_ns(store.clock.now()):020d}.{os.getpid()}_{threading.get_ident()}"
        self._place = self._held(f"{TURNS}/{self._name}").acquire()

    def try_acquire(self) -> Holder | None:
        """None: the turn is ours. Else the instruction that this one waits for."""
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
        self._drop()  # after the lock is acquired: the kernel sees this change, and refreshes
        return None

    def set_job(self, job: str) -> None:
        """Record that the next job belongs to this instruction."""
        self.note(job=job)

    def note(self, **facts: str) -> None:
        """Record a fact for readers of the lock."""
        if self._lock is not None:
            self._lock.note(**facts)

    def release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None
        self._drop()

    def _held(self, key: str) -> Lease:
        return self._store.lease(key, self._what, clock=self._clock)

    def _drop(self) -> None:
        self._place.release()
        with suppress(NotFound):
            self._store.delete(f"{TURNS}/{self._name}", durable=False)

    def _alive(self, key: str) -> Holder | None:
        """The lock's live holder; a file that a dead process left is removed."""
        found = self._store.lease(key).holder()
        if found is None:
            with suppress(NotFound):
                self._store.delete(key, durable=False)
        return found


class HeldTurns:
    """The kernel's view of the turns: read again when the change feed reports a change.

    The feed may be late: a job may be met before the report of the turn that was taken before it. So a node without an
    instruction is asked of its lock file once more before a job begins; whoever takes a turn changes that file.
    """

    def __init__(self, store: Store, nodes: Iterable[str], clock: Clock) -> None:
        self._store = store
        self._nodes = nodes
        self._monotonic = clock.monotonic
        self._by: dict[str, Holder] = {}
        self._tokens: dict[str, str | None] = {}  # node → what its lock file was when it was read
        self._settled_at = 0.0  # a lock whose release was reported before it was free is free by then
        self.refresh()

    def refresh(self) -> None:
        nodes = tuple(self._nodes)
        self._tokens = {id: self._store.probe(turn_lock_key(id)) for id in nodes}  # before the lock itself is read
        found = {id: current_instruction(self._store, id) for id in nodes}
        self._by = {id: by for id, by in found.items() if by is not None}
        self._settled_at = self._monotonic() + RELEASE_S if self._by else 0.0

    def allows(self, job: Job) -> bool:
        """Whether the job may start; False: it waits for the end of another instruction."""
        node = job.order.node
        if node not in self._by:
            if self._store.probe(turn_lock_key(node)) == self._tokens.get(node):
                return True
            self.refresh()
            if node not in self._by:
                return True
        by = current_instruction(self._store, node)
        if by is None:
            del self._by[node]
            return True
        began, accepted = parse_stamp(str(by.get("started_at", ""))), parse_stamp(job.status.accepted_at)
        if began is not None and accepted is not None and accepted < began:
            return True
        return bool(by.get("job") == job.id)

    def patience(self) -> float | None:
        """Seconds until the locks must be looked at once more; None: the change feed reports what happens to them."""
        left = self._settled_at - self._monotonic()
        return left if self._by and left > 0 else None


def turn_lock_key(node: str) -> str:
    return f"{TURNS}/{node}.lock"


def latest_instruction(store: Store, node: str) -> Holder:
    """The instruction that a robot executes or executed last, with its last job; {}: none is recorded."""
    stored = store.get(turn_lock_key(node))
    try:
        return as_object(parse_json(stored.data)) if stored is not None else {}
    except ValueError:  # its holder may be writing it at this moment
        return {}


def current_instruction(store: Store, node: str) -> Holder | None:
    """The instruction that a robot executes now; None: none, or its lock is unreadable."""
    for _ in range(3):  # its holder may be writing it at this moment
        found = store.lease(turn_lock_key(node)).holder()
        if found != {}:
            break
        store.clock.wait(threading.Event(), 0.001)
    return found

"""Which nodes are stopped: a log for each node, and one for all. Every interface stops and resumes through this module.

    .paos/stops/<node>.jsonl    {"stop": by, "at": …} and {"resume": by, "at": …, "seen": stops so far}
    .paos/stops/all             the same for every node, present and to come

A resume holds the number of stops that its writer has read: a stop that came meanwhile stays in force.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from worldfs.base.clock import Clock, stamp
from worldfs.base.errors import UserError
from worldfs.storage.store_interface import Store

STOPS: Final = ".paos/stops"
ALL: Final = f"{STOPS}/all"


class StopState(NamedTuple):
    """The stop state of a node. `number`: stops so far; an instruction that began before the latest one is over."""

    stopped: bool = False
    number: int = 0
    by: str = ""  # the role that stopped it
    at: str = ""


class StopLog:
    """Keeps nothing in memory: any process may use it, with or without a running kernel."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def state(self, node: str) -> StopState:
        """The node's own state and that of all nodes as one."""
        own, every = self._read(stop_key(node)), self._read(ALL)
        last = own if own.stopped else every
        return StopState(own.stopped or every.stopped, own.number + every.number, last.by, last.at)

    def stop(self, nodes: Sequence[str], by: str, *, every: bool = False) -> None:
        """A running kernel sees it at once; durable when it returns. `every`: future nodes as well."""
        keys = [ALL] if every else [stop_key(node) for node in nodes]
        for key in keys:  # without waiting for a disk, so that no robot moves on while it is written
            self._append(key, {"stop": by}, durable=False)
        for key in keys:
            self._store.append(key, b"\n")

    def resume(self, nodes: Collection[str], by: str, others: Collection[str] = ()) -> None:
        """Durable when it returns. `others`: nodes that stay stopped, where all were stopped at once."""
        every = self._read(ALL)
        if every.stopped:
            self.stop([node for node in others if not self._read(stop_key(node)).stopped], every.by)
        for key in (*map(stop_key, nodes), ALL):
            found = self._read(key)
            if found.stopped:
                self._append(key, {"resume": by, "seen": found.number}, durable=True)

    def _append(self, key: str, line: dict[str, object], *, durable: bool) -> None:
        text = json.dumps({**line, "at": stamp(self._clock.now())}, ensure_ascii=False)
        self._store.append(key, f"\n{text}\n".encode(), durable=durable)  # the first newline ends a torn line

    def _read(self, key: str) -> StopState:
        try:
            stored = self._store.get(key)
        except UserError:  # a link or a directory has its name: nothing permits the robot to move
            return StopState(True, 1, key)
        found = StopState()
        for line in stored.data.splitlines() if stored is not None else ():
            found = _after(found, line)
        return found


def stop_key(node: str) -> str:
    return f"{STOPS}/{node}.jsonl"


def _after(before: StopState, line: bytes) -> StopState:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):  # blank, or torn by a crash before the write returned
        return before
    if not isinstance(value, dict):
        return before
    if "stop" in value:
        return StopState(True, before.number + 1, str(value["stop"]), str(value.get("at", "")))
    if "resume" in value and value.get("seen") == before.number:
        return StopState(False, before.number)
    return before

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
_ENDING: Final = ".jsonl"


class StopState(NamedTuple):
    """The stop state of a node. `number`: stops so far; an instruction that began before the latest one is over."""

    stopped: bool = False
    number: int = 0
    by: str = ""  # the role that stopped it
    at: str = ""
    roles: frozenset[str] = frozenset()  # that have stopped it since it was resumed last


class StopLog:
    """Keeps nothing in memory: any process may use it, with or without a running kernel."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def state(self, node: str) -> StopState:
        """The node's own state and that of all nodes as one."""
        return _joined(self._read(stop_key(node)), self._read(ALL))

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
            self._resume(key, self._read(key), by)

    def resume_own(self, node: str, seen: StopState, by: str) -> None:
        """Take back what `seen` has of the node's own log; a later stop, and those of all nodes, stay in force.
        Durable when it returns."""
        self._resume(stop_key(node), seen, by)

    def _resume(self, key: str, seen: StopState, by: str) -> None:
        if seen.stopped:
            self._append(key, {"resume": by, "seen": seen.number}, durable=True)

    def _append(self, key: str, line: dict[str, object], *, durable: bool) -> None:
        text = json.dumps({**line, "at": stamp(self._clock.now())}, ensure_ascii=False)
        self._store.append(key, f"\n{text}\n".encode(), durable=durable)  # the first newline ends a torn line

    def _read(self, key: str) -> StopState:
        try:
            stored = self._store.get(key)
        except UserError:
            return _blocked(key)
        return StopState() if stored is None else _read_on(StopState(), stored.data)


class _ParsedLog(NamedTuple):
    """`data`: whole lines."""

    data: bytes
    state: StopState


class StopStates:
    """The stop states of many nodes in memory: `read` reads one log, and of it only the lines that are new.

    Not locked: the caller makes one call at a time.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._logs: dict[str, _ParsedLog] = {}  # by key
        self._states: dict[str, StopState] = {}  # by key
        self._tokens: dict[str, str | None] = {}  # by key: what `probe` said before `read_changed` read the log

    def read_changed(self, key: str) -> None:
        """As `read`, but a log that `probe` says is unchanged is not read."""
        try:
            token = self._store.probe(key)
        except UserError:
            self._tokens.pop(key, None)
            self.read(key)
            return
        if key not in self._tokens or self._tokens[key] != token:
            self.read(key)
            self._tokens[key] = token

    def read(self, key: str) -> None:
        """Read the log of that key as it is now. What it raises leaves the state as it was."""
        try:
            stored = self._store.get(key)
        except UserError:
            self._logs.pop(key, None)
            self._states[key] = _blocked(key)
            return
        data, before = stored.data if stored is not None else b"", self._logs.get(key, _ParsedLog(b"", StopState()))
        if not data.startswith(before.data):  # not by us: it is another file now
            before = _ParsedLog(b"", StopState())
        whole, end = data.rfind(b"\n") + 1, len(before.data)
        state = _read_on(before.state, data[end:whole])
        self._logs[key] = _ParsedLog(data[:whole], state)
        self._states[key] = _read_on(state, data[whole:])

    def known_keys(self) -> set[str]:
        """Of every log that is there, or was."""
        try:
            names = [name.rstrip("/") for name in self._store.list(STOPS)]
        except UserError:  # something else has the directory's name, and each log says so
            names = []
        return {ALL, *self._states, *(f"{STOPS}/{name}" for name in names)}

    def state(self, node: str) -> StopState:
        """As it was read last; of a log that was never read: not stopped."""
        return _joined(self.own(node), self._states.get(ALL, StopState()))

    def own(self, node: str) -> StopState:
        """Of the node's own log, as it was read last: without the stops of all nodes."""
        return self._states.get(stop_key(node), StopState())


def stop_key(node: str) -> str:
    return f"{STOPS}/{node}{_ENDING}"


def node_of(key: str) -> str:
    return key[len(STOPS) + 1 :].removesuffix(_ENDING)


def _joined(own: StopState, every: StopState) -> StopState:
    last = own if own.stopped else every
    roles = own.roles | every.roles
    return StopState(own.stopped or every.stopped, own.number + every.number, last.by, last.at, roles)


def _blocked(key: str) -> StopState:
    """A link or a directory has the log's name: nothing permits the robot to move."""
    return StopState(True, 1, key)


def _read_on(before: StopState, lines: bytes) -> StopState:
    for line in lines.splitlines():
        before = _after(before, line)
    return before


def _after(before: StopState, line: bytes) -> StopState:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):  # blank, or torn by a crash before the write returned
        return before
    if not isinstance(value, dict):
        return before
    if "stop" in value:
        by = str(value["stop"])
        return StopState(True, before.number + 1, by, str(value.get("at", "")), before.roles | {by})
    if "resume" in value and value.get("seen") == before.number:
        return StopState(False, before.number)
    return before

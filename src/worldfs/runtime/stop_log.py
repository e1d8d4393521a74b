"""Which nodes are stopped: a log for each node, and one for all. Every interface stops and resumes through this module.

    .paos/stops/<node>.jsonl    {"stop": by, "standing": …, "at": …}, {"resume": by, "standing": …, "seen": …, "at": …}
    .paos/stops/all             the same for every node, present and to come

`standing`: `person` or `agent` (access/standing.py); a line without it is a person's. `seen`: the number of stops that
the writer of a resume has read: a stop that came meanwhile stays in force. A resume ends the stops of its own standing
and of lower ones. Where others stay in force it is called `withdraw`: programs that know no standing pass over it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from worldfs.access.judge import judge
from worldfs.access.role_things import HeldStop
from worldfs.access.standing import Standing, shown_actor, standing_named, standing_of
from worldfs.access.verb import Verb
from worldfs.base.clock import Clock, stamp
from worldfs.base.errors import UserError
from worldfs.storage.store_interface import Store

STOPS: Final = ".paos/stops"
ALL: Final = f"{STOPS}/all"
_ENDING: Final = ".jsonl"


class StandingStop(NamedTuple):
    """The stops of one standing that are in force, as one."""

    standing: Standing
    number: int  # of the latest
    by: str  # the actor of the latest
    at: str
    roles: frozenset[str]  # of all of them


class StopState(NamedTuple):
    """The stop state of a node. `number`: stops so far; an instruction that began before the latest one is over."""

    stopped: bool = False
    number: int = 0
    by: str = ""  # the actor of the latest stop among those of the highest standing
    at: str = ""
    roles: frozenset[str] = frozenset()  # that have stopped it since it was resumed last
    holding: tuple[StandingStop, ...] = ()  # in force, one for each standing of each log

    @property
    def standing(self) -> Standing:
        """The one that a resume needs."""
        return max((stop.standing for stop in self.holding), default=Standing.AGENT)


class StopLog:
    """Keeps nothing in memory: any process may use it, with or without a running kernel."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def state(self, node: str) -> StopState:
        """The node's own state and that of all nodes as one."""
        return _joined(self._read(stop_key(node)), self._read(ALL))

    def stop(self, nodes: Sequence[str], by: str, *, standing: Standing = Standing.PERSON, every: bool = False) -> None:
        """A running kernel sees it at once; durable when it returns. `every`: future nodes as well."""
        keys = [ALL] if every else [stop_key(node) for node in nodes]
        for key in keys:  # without waiting for a disk, so that no robot moves on while it is written
            self._append(key, {"stop": by, "standing": standing.word}, durable=False)
        for key in keys:
            self._store.append(key, b"\n")

    def resume(self, nodes: Collection[str], actor: str, others: Collection[str] = ()) -> None:
        """End the stops that the actor may end, by its name (access/standing.py). Durable when it returns.

        `others`: nodes that stay stopped, where all were stopped at once. Raises `NotPermitted` where a node stays
        stopped by an actor of a higher standing; by then the rest is done.
        """
        for stop in self._ended(self._read(ALL), actor):
            below = [node for node in others if not _holds(self._read(stop_key(node)), stop.standing)]
            self.stop(below, stop.by, standing=stop.standing)
        for key in (*map(stop_key, nodes), ALL):
            seen = self._read(key)
            if ended := self._ended(seen, actor):
                word = "resume" if len(ended) == len(seen.holding) else "withdraw"
                self._end(key, seen, word, shown_actor(actor), standing_of(actor))
        for node in nodes:
            left = self.state(node)
            decision = judge(actor, Verb.RESUME, HeldStop(node, left.standing, left.by, left.at))
            if left.stopped and not decision:
                raise decision.error(path=f"/nodes/{node}/resume", op="resume", actor=shown_actor(actor))

    def resume_own(self, node: str, seen: StopState, by: str) -> None:
        """Take back what `seen` has of the node's own log; a later stop, and those of all nodes, stay in force.
        Durable when it returns."""
        if seen.stopped:
            self._end(stop_key(node), seen, "resume", by, seen.standing)

    def _ended(self, state: StopState, actor: str) -> list[StandingStop]:
        return [
            stop for stop in state.holding if judge(actor, Verb.RESUME, HeldStop("", stop.standing, stop.by, stop.at))
        ]

    def _end(self, key: str, seen: StopState, word: str, by: str, standing: Standing) -> None:
        self._append(key, {word: by, "standing": standing.word, "seen": seen.number}, durable=True)

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


def _state(number: int, holding: tuple[StandingStop, ...]) -> StopState:
    """`holding`: of those of one standing the first is named."""
    if not holding:
        return StopState(number=number)
    first = max(holding, key=lambda stop: stop.standing)
    roles = frozenset[str]().union(*(stop.roles for stop in holding))
    return StopState(True, number, first.by, first.at, roles, holding)


def _joined(own: StopState, every: StopState) -> StopState:
    return _state(own.number + every.number, own.holding + every.holding)


def _holds(state: StopState, standing: Standing) -> bool:
    return any(stop.standing >= standing for stop in state.holding)


def _blocked(key: str) -> StopState:
    """A link or a directory has the log's name: nothing permits the robot to move."""
    return _state(1, (StandingStop(Standing.PERSON, 1, key, "", frozenset({key})),))


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
    standing, seen = standing_named(value.get("standing")), value.get("seen")
    if "stop" in value:
        by, number = str(value["stop"]), before.number + 1
        same = [stop for stop in before.holding if stop.standing is standing]
        roles = frozenset({by}).union(*(stop.roles for stop in same))
        last = StandingStop(standing, number, by, str(value.get("at", "")), roles)
        return _state(number, (last, *(stop for stop in before.holding if stop not in same)))
    if ("resume" in value or "withdraw" in value) and type(seen) is int and seen <= before.number:
        left = (stop for stop in before.holding if stop.standing > standing or stop.number > seen)
        return _state(before.number, tuple(left))
    return before

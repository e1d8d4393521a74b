"""Which nodes are stopped: a log for each node, and one for all. Every interface stops and resumes through this module.

    .paos/stops/<node>.jsonl    {"stop": by, "standing": …, "id": …, "at": …}, {"resume": by, "standing": …, "seen": …,
                                "at": …}
                                {"moves": {"driver": …, "job": …}, "at": …}, {"moves": null, "word": job, "at": …}
    .paos/stops/all             the same for every node, present and to come; and of the kernels {"stands": {node: stops
                                so far}, "at": …}: the drivers of these nodes have confirmed that their robots stand

`standing`: `person` or `agent` (access/standing.py); a line without it is a person's. `seen`: the number of stops that
the writer of a resume has read: a stop that came meanwhile stays in force. A resume ends the stops of its own standing
and of lower ones. Where others stay in force it is called `withdraw`: programs that know no standing pass over it.
`moves`: the robot may still move since that order, as a kernel knows; null: it was measured to stand, or, with `word`,
a person has stopped and resumed it, which says that it stands, or the log of another workspace of the home keeps it
(world/earlier_workspaces.py). No other start and no end of a kernel writes that.
A stop may be written twice, by its sender and by the kernel that heard it first: the second line with its id counts for
nothing.
A line that cannot be read, also one that a crash has torn, counts as a stop by a person: it may have been one.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple

from worldfs.access.judge import judge
from worldfs.access.role_things import HeldStop
from worldfs.access.standing import Standing, shown_actor, standing_named, standing_of
from worldfs.access.verb import Verb
from worldfs.base.clock import Clock, stamp
from worldfs.base.errors import UserError, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_list, as_object, as_text
from worldfs.base.messages import coded
from worldfs.storage.plain_files import PlainFiles
from worldfs.storage.store_interface import Store

from .stops_aside import StopsAside

STOPS: Final = ".paos/stops"
ALL: Final = f"{STOPS}/all"
_ENDING: Final = ".jsonl"
COPY: Final = "-copy"  # behind the id of one that is kept aside though the log has it
ROOM: Final = 4096  # bytes kept for the next lines of each log
IDS: Final = 32  # of the latest stops, remembered
NONE_STOOD: Final[Mapping[str, int]] = MappingProxyType({})


class MayMove(NamedTuple):
    """What is known of a robot that may still move: no driver has measured it to stand since an order, or a stop."""

    driver: str = ""  # that had the order; "": not known
    job: str = ""  # "": no order
    simulated: bool | None = False  # that driver's body moved only while its kernel stepped it; None: not known

    @property
    def named(self) -> str:
        """The driver, for people."""
        return self.driver or coded("stop.no_driver_name")


def left_text(found: MayMove) -> str:
    """Why a robot may still move that no driver had since."""
    if not found.job:
        return coded("stop.left_idle", driver=found.named)
    return coded("stop.left", driver=found.named, job=found.job)


class StandingStop(NamedTuple):
    """The stops of one standing that are in force, as one."""

    standing: Standing
    number: int  # of the latest
    by: str  # the actor of the latest
    at: str
    roles: frozenset[str]  # of all of them
    id: str = ""  # of the latest; "": it has none


class StopState(NamedTuple):
    """The stop state of a node. `number`: stops so far; an instruction that began before the latest one is over."""

    stopped: bool = False
    number: int = 0
    by: str = ""  # the actor of the latest stop among those of the highest standing
    at: str = ""
    roles: frozenset[str] = frozenset()  # that have stopped it since it was resumed last
    holding: tuple[StandingStop, ...] = ()  # in force, one for each standing of each log
    ids: tuple[str, ...] = ()  # of the latest stops
    stands: int = 0  # how many stops there were when the driver confirmed last that the robot stands
    stood: Mapping[str, int] = NONE_STOOD  # the same by node; of the log of all nodes
    moves: MayMove | None = None  # of the node's own log
    words: tuple[str, ...] = ()  # the orders since which it stands by a person's word

    @property
    def standing(self) -> Standing:
        """The one that a resume needs."""
        return max((stop.standing for stop in self.holding), default=Standing.AGENT)

    @property
    def confirmed(self) -> bool:
        """Whether the driver has confirmed, since the latest stop, that the robot stands."""
        return self.stopped and self.stands == self.number


class PendingStop(NamedTuple):
    """A stop that is in force and not in the log yet. `keys`: of the logs that lack it."""

    id: str
    by: str
    standing: Standing
    at: str
    keys: frozenset[str]

    def as_json(self) -> dict[str, object]:
        return {**self._asdict(), "standing": self.standing.word, "keys": sorted(self.keys)}


def read_pending(value: Mapping[str, object]) -> PendingStop:
    keys = map(as_text, as_list(value.get("keys")))
    logs = frozenset(key for key in keys if key in (ALL, stop_key(node_of(key))) and "/" not in node_of(key))
    by, at = as_text(value.get("by")), as_text(value.get("at"))
    return PendingStop(as_text(value.get("id")), by, standing_named(value.get("standing")), at, logs)


class PendingStops:
    """The stops that are in force in this process before they are in the log. From any thread; never waits."""

    def __init__(self) -> None:
        self._stops: tuple[PendingStop, ...] = ()  # replaced whole: a reader needs no lock
        self._lock = threading.Lock()

    def add(self, stop: PendingStop) -> None:
        """Nothing to do for a stop of no robot: no log lacks it."""
        if stop.keys:
            with self._lock:
                self._stops = (*self._stops, stop)

    def stored(self, id: str, key: str) -> None:
        """The log at that key has it now."""
        with self._lock:
            left = (one._replace(keys=one.keys - {key}) if one.id == id else one for one in self._stops)
            self._stops = tuple(one for one in left if one.keys)

    def of(self, node: str) -> list[PendingStop]:
        keys = {stop_key(node), ALL}
        return [one for one in self._stops if not keys.isdisjoint(one.keys)]

    def all(self) -> tuple[PendingStop, ...]:
        return self._stops


class StopLog:
    """Any process may use it, with or without a running kernel. `pending`: what is in force beside what is stored: of a
    kernel of this process, and what an earlier process had to keep `aside`."""

    def __init__(self, store: Store, clock: Clock, aside: StopsAside | None = None) -> None:
        self._store, self._clock, self._aside = store, clock, aside
        self.pending = PendingStops()
        self._copied: dict[str, frozenset[str]] = {}  # id → keys, of the stops in force of which there is a copy aside
        self._copying, self._copies_over = threading.Lock(), False
        found = {stop.id: stop for stop in map(read_pending, aside.read())} if aside is not None else {}
        for id in [id for id in found if id.endswith(COPY)]:
            stop = found.pop(id)
            self._copied[stop.id.removesuffix(COPY)] = stop.keys
            found.setdefault(id.removesuffix(COPY), stop._replace(id=id.removesuffix(COPY)))
        self._recalled = frozenset(found)
        for stop in found.values():
            self.pending.add(stop._replace(keys=frozenset(filter(partial(self._lacks, stop.id), stop.keys))))
            self._drop_stored(stop.id)

    def state(self, node: str) -> StopState:
        """The node's own state and that of all nodes as one."""
        return with_pending(_joined(node, self._read(stop_key(node)), self._read(ALL)), self.pending.of(node))

    def stop(
        self,
        nodes: Sequence[str],
        by: str,
        *,
        standing: Standing = Standing.PERSON,
        every: bool = False,
        id: str = "",
    ) -> None:
        """A running kernel sees it at once; durable when it returns. `every`: future nodes as well."""
        keys, line = stop_keys(nodes, every=every), {"stop": by, "standing": standing.word, "id": id or new_stop_id()}
        for key in keys:  # without waiting for a disk, so that no robot moves on while it is written
            self._append(key, line, durable=False)
        for key in keys:
            self._store.append(key, b"\n")

    def store(self, stop: PendingStop, key: str) -> None:
        """Write a stop that is in force already, unless another process has. Durable when it returns."""
        if stop.id not in self._read(key).ids:
            line = {"stop": stop.by, "standing": stop.standing.word, "id": stop.id}
            self._append(key, line, durable=False, at=stop.at)
        self._store.append(key, b"\n")

    def stored(self, id: str, key: str) -> None:
        """The log at that key has it now."""
        self.pending.stored(id, key)
        self._drop_stored(id)

    def keep_aside(self) -> None:
        """Keep what is in force and not in the log where this machine takes it, for the next process."""
        if self._aside is None:
            return
        for stop in self.pending.all():
            self._aside.keep(stop.id, stop.as_json())
            self._drop_stored(stop.id)  # stored meanwhile

    def keep_all_aside(self, stops: Iterable[PendingStop]) -> None:
        """Keep these for the next process, which finds another log, or none: one whose log has them forgets them."""
        if self._aside is not None:
            for stop in stops:
                self._aside.keep(stop.id, stop.as_json())

    def copy_aside(self, in_force: Callable[[], Iterable[PendingStop]]) -> None:
        """Of all that is in force there is a copy outside of the workspace from now on; of no other. Processes whose
        log has a stop pass over its copy. It is asked what is in force when no other copies: what another had asked
        before a resume would come after it."""
        with self._copying:
            self._copy(in_force())

    def forget_copies(self) -> None:
        """The kernel of this process ends as it should: there is none from now on."""
        with self._copying:
            self._copy(())
            self._copies_over = True

    def _copy(self, stops: Iterable[PendingStop]) -> None:
        if self._aside is not None and not self._copies_over:
            wanted = {stop.id: stop for stop in stops}
            for id in self._copied.keys() - wanted.keys():
                self._aside.drop(f"{id}{COPY}")
                del self._copied[id]
            for id in [id for id, stop in wanted.items() if self._copied.get(id) != stop.keys]:
                copy = wanted[id]._replace(id=f"{id}{COPY}")
                self._aside.keep(copy.id, copy.as_json(), copy=True)
                self._copied[id] = copy.keys

    def _drop_ended_copies(self) -> None:
        """After a resume: a copy of what is not in force any more would bring it back."""
        if self._copied:
            keys = frozenset[str]().union(*self._copied.values())
            held = {stop.id for key in keys for stop in self._read(key).holding}
            left = [PendingStop(id, "", Standing.PERSON, "", keys) for id, keys in self._copied.items() if id in held]
            self.copy_aside(lambda: left)

    def put_aside(self, stop: PendingStop) -> str:
        """The file that keeps a stop which the log does not take, for the next start; "": nothing takes it."""
        place = self._aside.keep(stop.id, stop.as_json()) if self._aside is not None else ""
        if place:
            self.pending.add(stop)
            self._recalled |= {stop.id}  # a resume of this process ends it
        return place

    def _drop_stored(self, id: str) -> None:
        if self._aside is not None and all(one.id != id for one in self.pending.all()):
            self._aside.drop(id)

    def _lacks(self, id: str, key: str) -> bool:
        try:
            return id not in self._read(key).ids
        except WorldError:
            return True

    def kept_at(self, id: str) -> str:
        """The file that has a stop which the log lacks; "": there is none."""
        return self._aside.place_of(id) if self._aside is not None else ""

    def reserve(self, nodes: Iterable[str]) -> None:
        """Keep room for their next stops, and for one of all nodes, where the log is on a disk: it may be full then."""
        if isinstance(self._store, PlainFiles):
            for key in (ALL, *map(stop_key, nodes)):
                with suppress(
                    WorldError
                ):  # a link has its name, or the disk is full: stops are written as far as it goes
                    self._store.reserve(key, ROOM)

    def confirm(self, stands: Mapping[str, int]) -> None:
        """The drivers of these nodes have confirmed that their robots stand, since so many stops. Not durable: without
        it a stop is not confirmed, which is safe."""
        self._append(ALL, {"stands": dict(stands)}, durable=False)

    def note_moves(self, moves: Mapping[str, MayMove | None]) -> None:
        """These robots may still move; None: it is measured that the robot stands. Durable when it returns."""
        for node, found in moves.items():
            said = None if found is None else {"driver": found.driver, "job": found.job}
            self._append(stop_key(node), {"moves": said}, durable=True)

    def end_moves(self, moves: Mapping[str, MayMove]) -> None:
        """This log says it of these robots no more, by a word and not by a measurement. Durable when it returns."""
        for node, found in moves.items():
            self._append(stop_key(node), {"moves": None, "word": found.job}, durable=True)

    def moving(self) -> dict[str, MayMove]:
        """Every robot that may still move by its log, whether or not it is configured."""
        try:
            keys = [f"{STOPS}/{name}" for name in self._store.list(STOPS) if name.endswith(_ENDING)]
        except UserError:  # something else has the directory's name
            keys = []
        return {node_of(key): found for key in keys if (found := self._read(key).moves) is not None}

    def resume(self, nodes: Collection[str], actor: str, others: Collection[str] = ()) -> None:
        """End the stops that the actor may end, by its name (access/standing.py). Durable when it returns.

        A person who resumes a robot that may still move has seen that it stands. `others`: nodes that stay stopped,
        where all were stopped at once. Raises `NotPermitted` where a node stays
        stopped by an actor of a higher standing; by then the rest is done.
        """
        for kept in self.pending.all():
            for key in sorted(kept.keys) if kept.id in self._recalled else ():  # seen when this process began
                self.store(kept, key)
                self.stored(kept.id, key)
        for stop in self._ended(self._read(ALL), actor):
            below = [node for node in others if not _holds(self._read(stop_key(node)), stop.standing)]
            self.stop(below, stop.by, standing=stop.standing)
        if standing_of(actor) is Standing.PERSON:
            for node in nodes:  # first: between the two lines the robot is stopped
                moves = self._read(stop_key(node)).moves
                if moves is not None and self.state(node).stopped:
                    self.end_moves({node: moves})
        for key in (*map(stop_key, nodes), ALL):
            seen = self._read(key)
            if ended := self._ended(seen, actor):
                word = "resume" if len(ended) == len(seen.holding) else "withdraw"
                self._end(key, seen, word, shown_actor(actor), standing_of(actor))
        self._drop_ended_copies()
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

    def _append(self, key: str, line: Mapping[str, object], *, durable: bool, at: str = "") -> None:
        text = json.dumps({**line, "at": at or stamp(self._clock.now())}, ensure_ascii=False)
        self._store.append(key, f"\n{text}\n".encode(), durable=durable)  # the first newline ends a torn line

    def _read(self, key: str) -> StopState:
        try:
            stored = self._store.get(key)
        except UserError:
            return _blocked(key)
        return StopState() if stored is None else _read_on(StopState(), stored.data, key)


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
        self._lost: dict[str, StopState] = {}  # by key

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
            self._states[key] = _blocked(key)
            return
        data, before = stored.data if stored is not None else b"", self._logs.get(key, _ParsedLog(b"", StopState()))
        last = before.state
        if not data.startswith(before.data):  # not by us: it is another file now
            before = _ParsedLog(b"", StopState())
        whole, end = data.rfind(b"\n") + 1, len(before.data)
        state = _read_on(before.state, data[end:whole], key)
        self._logs[key] = _ParsedLog(data[:whole], state)
        found = self._states[key] = _read_on(state, data[whole:], key)
        if last.stopped and not found.stopped and (found.number < last.number or not set(last.ids) <= set(found.ids)):
            self._lost[key] = last

    def take_lost(self) -> Mapping[str, StopState]:
        """By key: what was in force by a log that has been cut, emptied or removed since, and by which nothing is in
        force now. Each is told once."""
        lost, self._lost = self._lost, {}
        return lost

    def known_keys(self) -> set[str]:
        """Of every log that is there, or was."""
        try:
            names = [name.rstrip("/") for name in self._store.list(STOPS)]
        except UserError:  # something else has the directory's name, and each log says so
            names = []
        return {ALL, *self._states, *(f"{STOPS}/{name}" for name in names)}

    def in_force(self, *, named: bool = False) -> Iterator[PendingStop]:
        """Every stop that is in force, as it was read last: one of several robots once. `named`: those with an id."""
        found: dict[str, PendingStop] = {}
        for key, state in tuple(self._states.items()):
            for stop in (one for one in state.holding if one.id or not named):
                id = stop.id or new_stop_id()
                keys = found[id].keys | {key} if id in found else frozenset((key,))
                found[id] = PendingStop(id, stop.by, stop.standing, stop.at, keys)
        return iter(found.values())

    def is_unread(self, key: str) -> bool:
        """Whether a stop is in force because that log, or a line of it, could not be read."""
        return any(key in stop.roles for stop in self._states.get(key, StopState()).holding)

    def state(self, node: str) -> StopState:
        """As it was read last; of a log that was never read: not stopped."""
        return _joined(node, self.own(node), self._states.get(ALL, StopState()))

    def own(self, node: str) -> StopState:
        """Of the node's own log, as it was read last: without the stops of all nodes."""
        return self._states.get(stop_key(node), StopState())


def stop_key(node: str) -> str:
    return f"{STOPS}/{node}{_ENDING}"


def stop_keys(nodes: Iterable[str], *, every: bool) -> list[str]:
    """Of the logs that a stop is written to."""
    return [ALL] if every else [stop_key(node) for node in nodes]


def new_stop_id() -> str:
    return os.urandom(8).hex()


def node_of(key: str) -> str:
    return key[len(STOPS) + 1 :].removesuffix(_ENDING)


def _state(
    number: int, holding: tuple[StandingStop, ...], ids: tuple[str, ...] = (), stood: Mapping[str, int] = NONE_STOOD
) -> StopState:
    """`holding`: of those of one standing the first is named."""
    if not holding:
        return StopState(number=number, ids=ids, stood=stood)
    first = max(holding, key=lambda stop: stop.standing)
    roles = frozenset[str]().union(*(stop.roles for stop in holding))
    return StopState(True, number, first.by, first.at, roles, holding, ids, stood=stood)


def _joined(node: str, own: StopState, every: StopState) -> StopState:
    found = _state(own.number + every.number, own.holding + every.holding, own.ids + every.ids)
    return found._replace(stands=every.stood.get(node, 0), moves=own.moves, words=own.words)


def with_pending(stored: StopState, pending: Sequence[PendingStop]) -> StopState:
    """The stored state, and the stops that are in force and not stored."""
    new = [one for one in reversed(pending) if one.id not in stored.ids]
    if not new:
        return stored
    number = stored.number + len(new)
    holding = tuple(StandingStop(one.standing, number, one.by, one.at, frozenset({one.by}), one.id) for one in new)
    found = _state(number, holding + stored.holding, stored.ids + tuple(one.id for one in new), stored.stood)
    return found._replace(stands=stored.stands, moves=stored.moves, words=stored.words)


def _holds(state: StopState, standing: Standing) -> bool:
    return any(stop.standing >= standing for stop in state.holding)


def _blocked(key: str) -> StopState:
    """A link or a directory has the log's name: nothing permits the robot to move."""
    return _state(1, (StandingStop(Standing.PERSON, 1, key, "", frozenset({key})),))


def _read_on(before: StopState, lines: bytes, key: str) -> StopState:
    for line in filter(bytes.strip, lines.splitlines()):
        after = _after(before, value := _line(line, key))
        if "moves" in value and "stop" not in value:
            after = _after_moves(before, value)
        elif after is not before:
            after = after._replace(moves=before.moves, words=before.words)
        before = after
    return before


def _after_moves(before: StopState, value: Mapping[str, object]) -> StopState:
    said, word = value["moves"], value.get("word")
    words = (*before.words, word) if isinstance(word, str) else before.words
    moves = (
        None if said is None else MayMove(as_text(as_object(said).get("driver")), as_text(as_object(said).get("job")))
    )
    return before._replace(moves=moves, words=words)


def _line(line: bytes, key: str) -> Mapping[str, object]:
    """What the line says. One that cannot be read is a stop that names the log."""
    try:
        value = parse_json(line)
    except ValueError:  # damaged, or torn by a crash before the write returned
        value = None
    return value if isinstance(value, dict) and _is_readable(value) else {"stop": key}


def _is_readable(value: Mapping[str, object]) -> bool:
    if "stop" in value:  # whatever else it says, it is a stop
        return True
    if "resume" in value or "withdraw" in value:
        standings = [None, *(standing.word for standing in Standing)]
        return type(value.get("seen")) is int and value.get("standing") in standings
    if "moves" in value:
        return value["moves"] is None or isinstance(value["moves"], dict)
    stands = value.get("stands")
    return isinstance(stands, dict) and all(type(number) is int for number in stands.values())


def _after(before: StopState, value: Mapping[str, object]) -> StopState:
    standing, seen = standing_named(value.get("standing")), value.get("seen")
    if "stop" in value:
        by, number, id = str(value["stop"]), before.number + 1, value.get("id")
        if id in before.ids:
            return before
        ids = (*before.ids, id)[-IDS:] if isinstance(id, str) else before.ids
        same = [stop for stop in before.holding if stop.standing is standing]
        roles = frozenset({by}).union(*(stop.roles for stop in same))
        last = StandingStop(standing, number, by, str(value.get("at", "")), roles, as_text(id))
        return _state(number, (last, *(stop for stop in before.holding if stop not in same)), ids, before.stood)
    if type(seen) is int:  # a resume, or a withdrawal
        if seen > before.number:
            return before
        left = (stop for stop in before.holding if stop.standing > standing or stop.number > seen)
        return _state(before.number, tuple(left), before.ids, before.stood)
    stands = {node: number for node, number in as_object(value.get("stands")).items() if type(number) is int}
    return before._replace(stood=MappingProxyType({**before.stood, **stands}))

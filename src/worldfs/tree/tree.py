"""The tree: one namespace in which every read and write is looked up, judged and carried out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Protocol, cast

from worldfs.ground.errors import BadInput, Exists, NotFound, NotPermitted, UserError

from . import path as paths
from .leaf import Ask, Behaviour, Branch, Names, Spot, Written
from .rights import FIXED, demand_read, demand_unmake, demand_write, may_read, may_write
from .stores.contract import ANY, Expected, Store, Watch
from .table import Found, Kind, Row, Table


class Entry(NamedTuple):
    """What is at a path, for one actor."""

    name: str
    path: str
    directory: bool
    kind: Kind | None = None
    readable: bool = True
    writable: bool = False


class Content(NamedTuple):
    data: bytes
    revision: str


class Rooms(Protocol):
    """Where things hang: which store a row's bytes lie in, and which names a `{variable}` has now."""

    def store(self, row: Row, names: Names) -> Store: ...

    def key(self, row: Row, names: Names) -> str: ...

    def names(self, room: str, variable: str, names: Names) -> list[str]:
        """What `{variable}` may be in a room, given the names before it."""
        ...

    def holds(self, room: str, names: Names) -> bool:
        """Are there such a project, node, agent, job, and may they be seen? What a pattern fits is not yet there."""
        ...

    def exists(self, row: Row, names: Names) -> bool:
        """Is the file of a row there, in a room that holds its names?"""
        ...


class Tree:
    """Reads and writes by path and actor. `starting` is true while the world is being assembled (EMBODIED.md).

    `alias` says that a name stands for another one: ("agent", "self") for whoever asks. Names then also hold the
    alias under "alias", so that a room can tell the two apart.
    """

    def __init__(
        self,
        table: Table,
        rooms: Rooms,
        behaviours: Mapping[str, Behaviour | Branch],
        alias: Mapping[tuple[str, str], str] | None = None,
    ) -> None:
        self.table = table
        self.rooms = rooms
        self.behaviours = behaviours
        self.starting = False
        self._alias = alias or {}

    # -- one file -----------------------------------------------------------------------------------------------------

    def read(self, path: str, actor: str) -> bytes:
        return self.fetch(path, actor).data

    def fetch(self, path: str, actor: str) -> Content:
        """Bytes and the revision to expect when writing back."""
        path, row, names = self.place(path, actor, "read")
        demand_read(row, actor, path)
        if row.view:
            return Content(self.behaviours[row.view].read(names), "")
        stored = self.rooms.store(row, names).get(self.rooms.key(row, names))
        if stored is None:
            raise NotFound("no such file", path=path, op="read", actor=actor)
        return Content(stored.data, stored.revision)

    def probe(self, path: str, actor: str) -> str | None:
        """A cheap token that changes when a stored file may have changed; None when it is absent."""
        path, row, names = self.place(path, actor, "probe")
        demand_read(row, actor, path)
        return self.rooms.store(row, names).probe(self.rooms.key(row, names))

    def write(self, path: str, data: bytes, actor: str, expect: Expected = ANY) -> str:
        """Durable when it returns; the new revision ("" for what is computed)."""
        return self.put(self.place(path, actor, "write"), data, Ask(actor), expect)[0]

    def put(self, found: tuple[str, Row, Names], data: bytes, ask: Ask, expect: Expected = ANY) -> tuple[str, Written]:
        """Write the file that `place` found: its new revision, and what a computed one answers."""
        path, row, names = found
        demand_write(row, ask.actor, path, starting=self.starting)
        if row.view:
            return "", self.behaviours[row.view].write(names, data, ask) or Written(len(data))
        store, key = self.rooms.store(row, names), self.rooms.key(row, names)
        if row.kind is Kind.LOG:
            store.append(key, data)
            return "", Written(len(data))
        return store.put(key, data, expect), Written(len(data))

    def remove(self, path: str, actor: str) -> None:
        """A stored file whose name is not the layout's, or an empty directory of such.

        Raises `NotFound`, `NotPermitted`, `BadInput` (not empty).
        """
        store, key, directory = self._own_name(path, actor, "remove")
        if directory:
            store.rmdir(key)
        else:
            store.delete(key)

    def rename(self, path: str, actor: str, new: str) -> None:
        """Within the files of one row; nothing may be at `new` (`Exists`)."""
        store, key, _ = self._own_name(path, actor, "rename")
        row = self.place(path, actor, "rename")[1]
        new, other, names = self.place(new, actor, "rename")
        demand_unmake(other, actor, new, "rename")
        if other is not row:
            raise BadInput("the two lie in different places", path=new, op="rename", fix="copy it, then remove it")
        store.move(key, self.rooms.key(other, names))

    def mkdir(self, path: str, actor: str) -> None:
        """An empty directory in a directory that is there, where names are not the layout's.

        Raises `Exists`, `NotFound` (no such directory), `NotPermitted`, `BadInput` (a file on the way).
        """
        path = paths.parse(path)
        parts = paths.segments(path)
        if self.look(parts, actor) is not None:
            raise Exists("it is there already", path=path, op="mkdir", actor=actor)
        if not self.stat("/" + "/".join(parts[:-1]), actor).directory:
            raise BadInput("a file where a directory is needed", path=path, op="mkdir", code="enotdir")
        found = self.found(parts)
        if found is None:
            raise NotPermitted(FIXED, path=path, op="mkdir", actor=actor)
        row, names = found
        demand_unmake(row, actor, path, "mkdir")
        self.rooms.store(row, names).mkdir(self.rooms.key(row, names))

    def _own_name(self, path: str, actor: str, op: str) -> tuple[Store, str, bool]:
        """Where what is at a path is stored, and whether it is a directory, if its name may go."""
        entry = self.stat(path, actor)  # what may not be seen is not there
        found = self.found(paths.segments(entry.path))
        if found is None:
            raise NotPermitted(FIXED, path=path, op=op, actor=actor)
        row, names = found
        demand_unmake(row, actor, path, op)
        return self.rooms.store(row, names), self.rooms.key(row, names), entry.directory

    # -- what is there ------------------------------------------------------------------------------------------------

    def stat(self, path: str, actor: str) -> Entry:
        path = paths.parse(path)
        name = path.rsplit("/", 1)[1] or "/"
        found = self.look(paths.segments(path), actor)
        if found is None:
            raise NotFound("no such file or directory", path=path, op="stat", actor=actor)
        if isinstance(found, Spot):
            return Entry(name, path, found.directory, writable=found.writable)
        row, _ = found
        return Entry(name, path, True) if row is None else self._entry(name, path, row, actor)

    def look(self, parts: tuple[str, ...], actor: str) -> Spot | tuple[Row | None, dict[str, str]] | None:
        """A file's row and names, (None, names) for a directory, a spot of a branch, or None: nothing to be seen."""
        if not parts:
            return None, {}
        directory: dict[str, str] | None = None
        for place, captured in self.table.matches(parts):
            row = place.row
            names = self.named(captured, row)
            if row is not None:
                if may_read(row, actor) and self.rooms.holds(row.room, names) and self.rooms.exists(row, names):
                    return row, names
            elif directory is None and any(self.rooms.holds(room, names) for room in place.rooms(actor)):
                directory = names
        if directory is not None:
            return None, directory
        for row, captured in self.table.rests(parts):
            names = self.named(captured)
            if may_read(row, actor) and self.rooms.holds(row.room, names):
                spot = self._spot(row, names)
                if spot is not None:
                    return (row, names) if not row.view and not spot.directory else spot
        return None

    def children(self, parts: tuple[str, ...], actor: str) -> dict[str, Row | None]:
        """Name → row of a file, or None for a directory: what `actor` sees directly below one."""
        seen: dict[str, Row | None] = {}
        rooms = self.rooms
        for row, captured in self.table.rests(parts):
            names = self.named(captured)
            if may_read(row, actor) and rooms.holds(row.room, names):
                self._rest(row, names, seen)
        for place, captured in self.table.matches(parts):
            names = self.named(captured)
            holding = [room for room in place.rooms(actor) if rooms.holds(room, names)]
            if place.rest is not None:
                variable, row = place.rest
                if row.room in holding and may_read(row, actor):
                    self._rest(row, {**names, variable: ""}, seen)
            if place.variable is not None:
                variable, child = place.variable
                shown = child.row if child.row is not None and may_read(child.row, actor) else None
                for room in child.rooms(actor):
                    if room not in holding or (child.row is not None and shown is None):
                        continue
                    for name in rooms.names(room, variable, names):
                        if shown is None:
                            seen.setdefault(name, None)
                        elif rooms.exists(shown, {**names, variable: name}):
                            seen[name] = shown
            for name, child in place.fixed.items():
                if child.row is not None:
                    row = child.row
                    given = {**names, **row.given} if row.given else names
                    if row.room in holding and may_read(row, actor) and rooms.exists(row, given):
                        seen[name] = row
                elif name not in seen and any(room in holding for room in child.rooms(actor)):
                    seen[name] = None
        return seen

    def list(self, path: str, actor: str) -> list[Entry]:
        """What `actor` sees directly below a directory, sorted by name."""
        path = paths.parse(path)
        seen = self.children(paths.segments(path), actor)
        base = path.rstrip("/")
        return [
            Entry(name, f"{base}/{name}", True)
            if (row := seen[name]) is None
            else self._entry(name, f"{base}/{name}", row, actor)
            for name in sorted(seen)
        ]

    # -- changes ------------------------------------------------------------------------------------------------------

    def watch(self, path: str, actor: str) -> Watch:
        """Changes of a stored file; a computed one is watched by what it is computed from."""
        path, row, names = self.place(path, actor, "watch")
        demand_read(row, actor, path)
        key = self.rooms.key(row, names)
        if not key:
            raise BadInput("a computed file has no changes of its own", path=path, op="watch", actor=actor)
        return self.rooms.store(row, names).watch(key)

    def wait(
        self,
        path: str,
        actor: str,
        ready: Callable[[bytes | None], bool],
        *,
        timeout: float | None = None,
        stop: threading.Event | None = None,
    ) -> bytes | None:
        """Block until `ready(content)` holds; the content then, or None when time is up or `stop` is set."""
        from worldfs.ground.clock import SystemClock

        clock = SystemClock()
        end = None if timeout is None else clock.monotonic() + timeout
        with self.watch(path, actor) as watch:
            while True:
                try:
                    data = self.read(path, actor)
                except NotFound:
                    data = None
                if ready(data):
                    return data
                left = None if end is None else end - clock.monotonic()
                if (left is not None and left <= 0) or (stop is not None and stop.is_set()):
                    return None
                # A stop event cannot interrupt the watch, so with one we look up from it now and then.
                step = 0.2 if stop is not None else None
                watch.read(step if left is None else left if step is None else min(left, step))

    # -- finding ------------------------------------------------------------------------------------------------------

    def place(self, path: str, actor: str, op: str) -> tuple[str, Row, dict[str, str]]:
        """The row of a path, in a room that holds its names. Raises `NotFound`."""
        path = paths.parse(path)
        found = self.found(paths.segments(path))
        if found is None:
            raise NotFound("no such file", path=path, op=op, actor=actor, fix="`paos ls` shows what is there")
        return path, *found

    def found(self, parts: tuple[str, ...]) -> Found | None:
        """The most literal row whose room holds the names."""
        for place, captured in self.table.matches(parts):
            if place.row is not None and self.rooms.holds(place.row.room, names := self.named(captured, place.row)):
                return place.row, names
        for row, captured in self.table.rests(parts):
            if self.rooms.holds(row.room, names := self.named(captured)):
                return row, names
        return None

    def named(self, names: dict[str, str], row: Row | None = None) -> dict[str, str]:
        """What a row is handed: its captured names, what the row itself gives, and what an alias stands for."""
        if row is not None and row.given:
            names = {**names, **row.given}
        if self._alias and names:
            for (variable, name), stands in self._alias.items():
                if names.get(variable) == name:
                    return {**names, variable: stands, "alias": name}
        return names

    def _entry(self, name: str, path: str, row: Row, actor: str) -> Entry:
        return Entry(name, path, False, row.kind, True, may_write(row, actor, starting=self.starting))

    def _rest(self, row: Row, names: Mapping[str, str], seen: dict[str, Row | None]) -> None:
        for name in self._below(row, names):
            if name.endswith("/"):
                seen.setdefault(name[:-1], None)
            else:
                seen[name] = row

    def _below(self, row: Row, names: Mapping[str, str]) -> Iterator[str]:
        """Names below a row with a rest; directories end in "/"."""
        if row.view:
            yield from cast("Branch", self.behaviours[row.view]).list(names)
            return
        store, key = self.rooms.store(row, names), self.rooms.key(row, names).rstrip("/")
        for name in store.list(key):
            if _token(store, f"{key}/{name.rstrip('/')}") is not None:
                yield name

    def _spot(self, row: Row, names: Mapping[str, str]) -> Spot | None:
        if row.view:
            return cast("Branch", self.behaviours[row.view]).look(names)
        store, key = self.rooms.store(row, names), self.rooms.key(row, names)
        try:
            below = store.list(key)
        except UserError:  # a file, or what may not be looked at
            return None if _token(store, key) is None else Spot(False)
        if below:
            return Spot(True)
        above, _, name = key.rpartition("/")
        if f"{name}/" in store.list(above):
            return Spot(True)
        return None if _token(store, key) is None else Spot(False)


def _token(store: Store, key: str) -> str | None:
    """As `probe`; None too for what a path cannot name and for what is neither a file nor a directory."""
    try:
        return store.probe(key)
    except UserError:
        return None

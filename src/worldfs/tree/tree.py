"""The tree: one namespace in which every read and write is looked up, judged and carried out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Protocol

from worldfs.ground.errors import BadInput, NotFound

from . import path as paths
from .rights import demand_read, demand_write, may_read, may_write
from .stores.contract import ANY, Expected, Store, Watch
from .table import Kind, Row, Table

Names = Mapping[str, str]


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


class Behaviour(Protocol):
    """A computed file: a View renders, a Sheet or Control also takes."""

    def read(self, names: Names) -> bytes: ...

    def write(self, names: Names, data: bytes, actor: str) -> None: ...


class Rooms(Protocol):
    """Where things hang: which store a row's bytes lie in, and which names a `{variable}` has now."""

    def store(self, row: Row, names: Names) -> Store: ...

    def key(self, row: Row, names: Names) -> str: ...

    def names(self, variable: str, names: Names) -> list[str]: ...

    def exists(self, row: Row, names: Names) -> bool: ...


class Tree:
    """Reads and writes by path and actor. `starting` is true while the world is being assembled (EMBODIED.md)."""

    def __init__(self, table: Table, rooms: Rooms, behaviours: Mapping[str, Behaviour]) -> None:
        self.table = table
        self.rooms = rooms
        self.behaviours = behaviours
        self.starting = False

    def read(self, path: str, actor: str) -> bytes:
        return self.fetch(path, actor).data

    def fetch(self, path: str, actor: str) -> Content:
        """Bytes and the revision to expect when writing back."""
        path, row, names = self._find(path, actor, "read")
        demand_read(row, actor, path)
        if row.view:
            data = self.behaviours[row.view].read(names)
            return Content(data, "")
        stored = self.rooms.store(row, names).get(self.rooms.key(row, names))
        if stored is None:
            raise NotFound("no such file", path=path, op="read", actor=actor)
        return Content(stored.data, stored.revision)

    def probe(self, path: str, actor: str) -> str | None:
        """A cheap token that changes when a stored file may have changed; None when it is absent."""
        path, row, names = self._find(path, actor, "probe")
        demand_read(row, actor, path)
        return self.rooms.store(row, names).probe(self.rooms.key(row, names))

    def write(self, path: str, data: bytes, actor: str, expect: Expected = ANY) -> str:
        """Durable when it returns; the new revision ("" for what is computed)."""
        path, row, names = self._find(path, actor, "write")
        demand_write(row, actor, path, starting=self.starting)
        if row.view:
            self.behaviours[row.view].write(names, data, actor)
            return ""
        store, key = self.rooms.store(row, names), self.rooms.key(row, names)
        if row.kind is Kind.LOG:
            store.append(key, data)
            return ""
        return store.put(key, data, expect)

    def stat(self, path: str, actor: str) -> Entry:
        path = paths.parse(path)
        found = self.table.find(path)
        name = path.rsplit("/", 1)[1] or "/"
        if found is not None and self.rooms.exists(*found) and may_read(found[0], actor):
            return self._entry(name, path, found[0], actor)
        if path == "/" or self.list(path, actor):
            return Entry(name, path, True)
        raise NotFound("no such file or directory", path=path, op="stat", actor=actor)

    def list(self, path: str, actor: str) -> list[Entry]:
        """What `actor` sees directly below a directory, sorted by name."""
        path = paths.parse(path)
        seen: dict[str, Entry] = {}
        for part, row, names, last in self.table.below(path):
            if not may_read(row, actor) or not self._known(names):
                continue
            for child in self._children(part, row, names):
                name = child.rstrip("/")
                if name in seen and not seen[name].directory:
                    continue
                here = paths.join(path, name)
                if not last or child.endswith("/"):
                    seen.setdefault(name, Entry(name, here, True))
                elif (found := self.table.find(here)) and found[0] is row and self.rooms.exists(row, found[1]):
                    seen[name] = self._entry(name, here, row, actor)
        return [seen[name] for name in sorted(seen)]

    def watch(self, path: str, actor: str) -> Watch:
        """Changes of a stored file; a computed one is watched by what it is computed from."""
        path, row, names = self._find(path, actor, "watch")
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

    def _find(self, path: str, actor: str, op: str) -> tuple[str, Row, dict[str, str]]:
        path = paths.parse(path)
        found = self.table.find(path)
        if found is None or not self._known(found[1]):
            raise NotFound("no such file", path=path, op=op, actor=actor, fix="`paos ls` shows what is there")
        return path, *found

    def _known(self, names: Names) -> bool:
        """Are there such a project, node and agent? What is in a path is not yet there because a pattern fits it."""
        return all(
            value in self.rooms.names(key, names) for key, value in names.items() if key in ("project", "node", "agent")
        )

    def _entry(self, name: str, path: str, row: Row, actor: str) -> Entry:
        return Entry(name, path, False, row.kind, True, may_write(row, actor, starting=self.starting))

    def _children(self, part: str, row: Row, names: Names) -> Iterator[str]:
        if part.endswith("*}"):
            variable = part[1:-2]
            prefix = row.key.split("{" + variable + "*}")[0] + names.get(variable, "")
            yield from self.rooms.store(row, names).list(prefix.rstrip("/"))
        elif part.startswith("{"):
            yield from self.rooms.names(part[1:-1], names)
        else:
            yield part

"""The tree: one namespace in which every read and write is resolved, authorized and executed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Protocol, cast

from worldfs.access.judge import judge, require
from worldfs.access.role_index import visible_mounts
from worldfs.access.verb import Verb
from worldfs.base.clock import SystemClock
from worldfs.base.errors import BadInput, Exists, NotFound, UserError
from worldfs.storage.store_interface import ANY, Expected, Store, StoreWatch
from worldfs.tree import path as paths
from worldfs.tree.row_table import FileKind, FileRow, Found, RowTable
from worldfs.tree.verb_values import Content, Stat, WriteContext, Written
from worldfs.tree.virtual_file import FileBehaviour, Names, Subtree


class Resolved(NamedTuple):
    """A file's row and names. Without a row: a directory of the table. `entry`: of a subtree, or a stored directory."""

    row: FileRow | None
    names: dict[str, str]
    entry: Stat | None = None


class Mounts(Protocol):
    """The mounts: which store holds a row's bytes, and which names a `{variable}` has now."""

    def store(self, row: FileRow, names: Names) -> Store: ...

    def key(self, row: FileRow, names: Names) -> str: ...

    def names(self, mount: str, variable: str, names: Names) -> list[str]:
        """The values of `{variable}` in a mount, given the names before it."""
        ...

    def holds(self, mount: str, names: Names) -> bool:
        """Whether such a project, node, agent or job exists and is visible; a matching pattern alone is not enough."""
        ...

    def exists(self, row: FileRow, names: Names) -> bool:
        """Whether the file of a row exists, in a mount that holds its names."""
        ...


class Tree:
    """Reads and writes by path and actor. `starting` is true while the world is being assembled (EMBODIED.md).

    `alias` maps a name to another: ("agent", "self") to the caller's agent. Names then also hold the
    alias under "alias", so that a mount can tell the two apart.
    """

    def __init__(
        self,
        table: RowTable,
        mounts: Mounts,
        behaviours: Mapping[str, FileBehaviour | Subtree],
        alias: Mapping[tuple[str, str], str] | None = None,
    ) -> None:
        self.table = table
        self.mounts = mounts
        self.behaviours = behaviours
        self.starting = False
        self._alias = alias or {}

    # -- one file -----------------------------------------------------------------------------------------------------

    def read(self, path: str, actor: str) -> bytes:
        return self.fetch(path, actor).data

    def fetch(self, path: str, actor: str) -> Content:
        """Bytes and the revision to expect when writing back."""
        path, row, names = self.locate(path, actor, "read")
        require(actor, Verb.READ, row, path)
        if row.view:
            return Content(self.behaviours[row.view].read(names), "")
        stored = self.mounts.store(row, names).get(self.mounts.key(row, names))
        if stored is None:
            raise NotFound("no such file", path=path, op="read", actor=actor)
        return Content(stored.data, stored.revision)

    def probe(self, path: str, actor: str) -> str | None:
        """A cheap token that changes when a stored file may have changed; None when it is absent."""
        path, row, names = self.locate(path, actor, "probe")
        require(actor, Verb.READ, row, path)
        return self.mounts.store(row, names).probe(self.mounts.key(row, names))

    def write(self, path: str, data: bytes, actor: str, expect: Expected = ANY) -> str:
        """Durable when it returns; the new revision ("" for what is computed)."""
        return self.put(self.locate(path, actor, "write"), data, WriteContext(actor), expect).revision

    def put(self, found: tuple[str, FileRow, Names], data: bytes, ask: WriteContext, expect: Expected = ANY) -> Written:
        """Write the file that `locate` found."""
        path, row, names = found
        require(ask.actor, self._writing, row, path, "write")
        if row.view:
            return self.behaviours[row.view].write(names, data, ask) or Written(len(data))
        store, key = self.mounts.store(row, names), self.mounts.key(row, names)
        if row.kind is FileKind.LOG:
            store.append(key, data)
            return Written(len(data))
        return Written(len(data), revision=store.put(key, data, expect))

    def remove(self, path: str, actor: str) -> None:
        """Remove a stored file that the layout does not name, or an empty directory of such.

        Raises `NotFound`, `NotPermitted`, `BadInput` (not empty).
        """
        store, key, directory = self._own_name(path, actor, "remove")
        if directory:
            store.rmdir(key)
        else:
            store.delete(key)

    def rename(self, path: str, actor: str, new: str) -> None:
        """Rename within the files of one row; nothing may be at `new` (`Exists`)."""
        store, key, _ = self._own_name(path, actor, "rename")
        row = self.locate(path, actor, "rename")[1]
        new, other, names = self.locate(new, actor, "rename")
        require(actor, Verb.REMOVE, other, new, "rename")
        if other is not row:
            raise BadInput("the two are on different mounts", path=new, op="rename", fix="copy it, then remove it")
        store.move(key, self.mounts.key(other, names))

    def mkdir(self, path: str, actor: str) -> None:
        """An empty directory in a directory that is there, where names are not the layout's.

        Raises `Exists`, `NotFound` (no such directory), `NotPermitted`, `BadInput` (a file on the way).
        """
        path = paths.parse(path)
        parts = paths.segments(path)
        if self.resolve(parts, actor) is not None:
            raise Exists("it already exists", path=path, op="mkdir", actor=actor)
        if not self.stat("/" + "/".join(parts[:-1]), actor).directory:
            raise BadInput("a file where a directory is needed", path=path, op="mkdir", code="enotdir")
        row, names = self._renamable(parts, actor, path, "mkdir")
        self.mounts.store(row, names).mkdir(self.mounts.key(row, names))

    def _own_name(self, path: str, actor: str, op: str) -> tuple[Store, str, bool]:
        """Store and key of a path, and whether it is a directory, if it may be removed or renamed."""
        entry = self.stat(path, actor)  # an invisible path does not exist
        row, names = self._renamable(paths.segments(entry.path), actor, path, op)
        return self.mounts.store(row, names), self.mounts.key(row, names), entry.directory

    def _renamable(self, parts: tuple[str, ...], actor: str, path: str, op: str) -> Found:
        """The row of a path, if `actor` may give and take names there."""
        found = self.find_row(parts)
        require(actor, Verb.REMOVE, found[0] if found is not None else None, path, op)
        assert found is not None  # nobody may change the names of the layout
        return found

    # -- what is there ------------------------------------------------------------------------------------------------

    def stat(self, path: str, actor: str) -> Stat:
        path = paths.parse(path)
        name = path.rsplit("/", 1)[1] or "/"
        found = self.resolve(paths.segments(path), actor)
        if found is None:
            raise NotFound("no such file or directory", path=path, op="stat", actor=actor)
        if found.entry is not None:
            return found.entry._replace(name=name, path=path)
        row = found.row
        return Stat(True, name=name, path=path) if row is None else self._entry(name, path, row, actor)

    def resolve(self, parts: tuple[str, ...], actor: str) -> Resolved | None:
        """What is there that `actor` sees; None: nothing."""
        if not parts:
            return Resolved(None, {})
        directory: dict[str, str] | None = None
        for place, captured in self.table.matches(parts):
            row = place.row
            names = self.full_names(captured, row)
            if row is not None:
                if (
                    judge(actor, Verb.READ, row)
                    and self.mounts.holds(row.mount, names)
                    and self.mounts.exists(row, names)
                ):
                    return Resolved(row, names)
            elif directory is None and any(self.mounts.holds(mount, names) for mount in visible_mounts(place, actor)):
                directory = names
        if directory is not None:
            return Resolved(None, directory)
        for row, captured in self.table.rests(parts):
            names = self.full_names(captured)
            if judge(actor, Verb.READ, row) and self.mounts.holds(row.mount, names):
                spot = self._dir_entry(row, names)
                if spot is not None:
                    return Resolved(row, names, spot if row.view or spot.directory else None)
        return None

    def children(self, parts: tuple[str, ...], actor: str) -> dict[str, FileRow | None]:
        """Name → row of a file, or None for a directory: the children that `actor` sees."""
        seen: dict[str, FileRow | None] = {}
        mounts = self.mounts
        for row, captured in self.table.rests(parts):
            names = self.full_names(captured)
            if judge(actor, Verb.READ, row) and mounts.holds(row.mount, names):
                self._rest(row, names, seen)
        for place, captured in self.table.matches(parts):
            names = self.full_names(captured)
            holding = [mount for mount in visible_mounts(place, actor) if mounts.holds(mount, names)]
            if place.rest is not None:
                variable, row = place.rest
                if row.mount in holding and judge(actor, Verb.READ, row):
                    self._rest(row, {**names, variable: ""}, seen)
            if place.variable is not None:
                variable, child = place.variable
                shown = child.row if child.row is not None and judge(actor, Verb.READ, child.row) else None
                for mount in visible_mounts(child, actor):
                    if mount not in holding or (child.row is not None and shown is None):
                        continue
                    for name in mounts.names(mount, variable, names):
                        if shown is None:
                            seen.setdefault(name, None)
                        elif mounts.exists(shown, {**names, variable: name}):
                            seen[name] = shown
            for name, child in place.fixed.items():
                if child.row is not None:
                    row = child.row
                    given = {**names, **row.given} if row.given else names
                    if row.mount in holding and judge(actor, Verb.READ, row) and mounts.exists(row, given):
                        seen[name] = row
                elif name not in seen and any(mount in holding for mount in visible_mounts(child, actor)):
                    seen[name] = None
        return seen

    def list(self, path: str, actor: str) -> list[Stat]:
        """The children of a directory that `actor` sees, sorted by name."""
        path = paths.parse(path)
        seen = self.children(paths.segments(path), actor)
        base = path.rstrip("/")
        return [
            Stat(True, name=name, path=f"{base}/{name}")
            if (row := seen[name]) is None
            else self._entry(name, f"{base}/{name}", row, actor)
            for name in sorted(seen)
        ]

    # -- changes ------------------------------------------------------------------------------------------------------

    def watch(self, path: str, actor: str) -> StoreWatch:
        """Watch a stored file; a computed one is watched through its sources."""
        path, row, names = self.locate(path, actor, "watch")
        require(actor, Verb.READ, row, path)
        key = self.mounts.key(row, names)
        if not key:
            raise BadInput("a computed file has no changes of its own", path=path, op="watch", actor=actor)
        return self.mounts.store(row, names).watch(key)

    def wait(
        self,
        path: str,
        actor: str,
        ready: Callable[[bytes | None], bool],
        *,
        timeout: float | None = None,
    ) -> bytes | None:
        """Block until `ready(content)` holds; the content then, or None when time is up."""

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
                if left is not None and left <= 0:
                    return None
                watch.read(left)

    # -- finding ------------------------------------------------------------------------------------------------------

    def locate(self, path: str, actor: str, op: str) -> tuple[str, FileRow, dict[str, str]]:
        """The row of a path, in a mount that holds its names. Raises `NotFound`."""
        path = paths.parse(path)
        found = self.find_row(paths.segments(path))
        if found is None:
            raise NotFound("no such file", path=path, op=op, actor=actor, fix="`paos ls` lists the files")
        return path, *found

    def find_row(self, parts: tuple[str, ...]) -> Found | None:
        """The most literal row whose mount holds the names."""
        for place, captured in self.table.matches(parts):
            if place.row is not None and self.mounts.holds(
                place.row.mount, names := self.full_names(captured, place.row)
            ):
                return place.row, names
        for row, captured in self.table.rests(parts):
            if self.mounts.holds(row.mount, names := self.full_names(captured)):
                return row, names
        return None

    def full_names(self, names: dict[str, str], row: FileRow | None = None) -> dict[str, str]:
        """The names for a row: the captured ones, the row's own, and the value of an alias."""
        if row is not None and row.given:
            names = {**names, **row.given}
        if self._alias and names:
            for (variable, name), stands in self._alias.items():
                if names.get(variable) == name:
                    return {**names, variable: stands, "alias": name}
        return names

    @property
    def _writing(self) -> Verb:
        return Verb.WRITE_AT_STARTUP if self.starting else Verb.WRITE

    def _entry(self, name: str, path: str, row: FileRow, actor: str) -> Stat:
        writable = bool(judge(actor, self._writing, row))
        return Stat(False, writable=writable, kind=row.kind, name=name, path=path)

    def _rest(self, row: FileRow, names: Mapping[str, str], seen: dict[str, FileRow | None]) -> None:
        for name in self._below(row, names):
            if name.endswith("/"):
                seen.setdefault(name[:-1], None)
            else:
                seen[name] = row

    def _below(self, row: FileRow, names: Mapping[str, str]) -> Iterator[str]:
        """Names below a row with a rest; directories end in "/"."""
        if row.view:
            yield from cast("Subtree", self.behaviours[row.view]).list(names)
            return
        store, key = self.mounts.store(row, names), self.mounts.key(row, names).rstrip("/")
        for name in store.list(key):
            if _token(store, f"{key}/{name.rstrip('/')}") is not None:
                yield name

    def _dir_entry(self, row: FileRow, names: Mapping[str, str]) -> Stat | None:
        if row.view:
            return cast("Subtree", self.behaviours[row.view]).dir_entry(names)
        store, key = self.mounts.store(row, names), self.mounts.key(row, names)
        try:
            below = store.list(key)
        except UserError:  # a file, or unreadable
            return None if _token(store, key) is None else Stat(False)
        if below:
            return Stat(True)
        above, _, name = key.rpartition("/")
        if f"{name}/" in store.list(above):
            return Stat(True)
        return None if _token(store, key) is None else Stat(False)


def _token(store: Store, key: str) -> str | None:
    """As `probe`; None too for what a path cannot name and for what is neither a file nor a directory."""
    try:
        return store.probe(key)
    except UserError:
        return None

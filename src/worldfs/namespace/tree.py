"""The tree: rows, mounts and behaviours as one, in which a path is found for a file role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol, cast

from worldfs.access.judge import judge, require
from worldfs.access.role_index import visible_mounts
from worldfs.access.verb import Verb
from worldfs.base.errors import BadInput, Exists, NotFound
from worldfs.base.messages import coded
from worldfs.storage.store_interface import ANY, Expected, Store
from worldfs.tree.row_table import FileKind, FileRow, Found, RowTable
from worldfs.tree.verb_values import Stat, WriteContext, Written
from worldfs.tree.virtual_file import FileBehaviour, Names, Subtree

Parts = tuple[str, ...]  # the segments of a path


class Resolved(NamedTuple):
    """A file's row and names. Without a row: a directory of the table. `entry`: of a subtree, or a stored directory."""

    row: FileRow | None
    names: dict[str, str]
    entry: Stat | None = None

    @property
    def directory(self) -> bool:
        return self.row is None or (self.entry is not None and self.entry.directory)


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
    """`alias` maps a name to another: ("agent", "self") to the caller's agent. Names then also hold the
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
        self.alias = alias or {}

    # -- one file -----------------------------------------------------------------------------------------------------

    def put(self, row: FileRow, names: Names, data: bytes, context: WriteContext, expect: Expected = ANY) -> Written:
        """Write a file whose writer has been judged; durable when it returns."""
        if row.view:
            return self.behaviours[row.view].write(names, data, context) or Written(len(data))
        store, key = self.mounts.store(row, names), self.mounts.key(row, names)
        if row.kind is FileKind.LOG:
            store.append(key, data)
            return Written(len(data))
        return Written(len(data), revision=store.put(key, data, expect))

    def remove(self, parts: Parts, actor: str) -> None:
        """Remove a stored file that the layout does not name, or an empty directory of such.

        Raises `NotFound`, `NotPermitted`, `BadInput` (not empty).
        """
        there = self._present(parts, actor, "remove")
        store, key, _ = self._own_name(parts, actor, "remove")
        if there.directory:
            store.rmdir(key)
        else:
            store.delete(key)

    def rename(self, parts: Parts, actor: str, new: Parts) -> None:
        """Rename within the files of one row; nothing may be at `new` (`Exists`)."""
        self._present(parts, actor, "rename")
        store, key, row = self._own_name(parts, actor, "rename")
        _, target, other = self._own_name(new, actor, "rename")
        if other is not row:
            found, fix = coded("tree.other_mount"), coded("tree.copy_remove")
            raise BadInput(found, path=_path(new), op="rename", fix=fix)
        store.move(key, target)

    def mkdir(self, parts: Parts, actor: str) -> None:
        """An empty directory in a directory that is there, where names are not the layout's.

        Raises `Exists`, `NotFound` (no such directory), `NotPermitted`, `BadInput` (a file on the way).
        """
        if self.resolve(parts, actor) is not None:
            raise Exists(coded("tree.exists"), path=_path(parts), op="mkdir", actor=actor)
        if not self._present(parts[:-1], actor, "mkdir").directory:
            raise BadInput(coded("tree.not_directory"), path=_path(parts), op="mkdir", code="enotdir")
        store, key, _ = self._own_name(parts, actor, "mkdir")
        store.mkdir(key)

    def _present(self, parts: Parts, actor: str, op: str) -> Resolved:
        """What is there; what `actor` does not see is not (`NotFound`)."""
        found = self.resolve(parts, actor)
        if found is None:
            raise NotFound(coded("tree.no_file_or_directory"), path=_path(parts), op=op, actor=actor)
        return found

    def _own_name(self, parts: Parts, actor: str, op: str) -> tuple[Store, str, FileRow]:
        """Store, key and row of a path where `actor` may give and take names."""
        row, names = self.find_row(parts) or (None, {})
        require(actor, Verb.REMOVE, row, _path(parts), op)
        assert row is not None  # nobody may change the names of the layout
        return self.mounts.store(row, names), self.mounts.key(row, names), row

    # -- what is there ------------------------------------------------------------------------------------------------

    def resolve(self, parts: Parts, actor: str) -> Resolved | None:
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

    def children(self, parts: Parts, actor: str) -> dict[str, FileRow | None]:
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

    # -- finding ------------------------------------------------------------------------------------------------------

    def find_row(self, parts: Parts) -> Found | None:
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
        if self.alias and names:
            for (variable, name), stands in self.alias.items():
                if names.get(variable) == name:
                    return {**names, variable: stands, "alias": name}
        return names

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
        yield from store.present(key)

    def _dir_entry(self, row: FileRow, names: Mapping[str, str]) -> Stat | None:
        if row.view:
            return cast("Subtree", self.behaviours[row.view]).dir_entry(names)
        store, key = self.mounts.store(row, names), self.mounts.key(row, names)
        directory = store.is_directory(key)
        return None if directory is None else Stat(directory)


def _path(parts: Parts) -> str:
    return "/" + "/".join(parts)

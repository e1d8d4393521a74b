"""The namespace: one binding's whole tree, as every door serves it. Synchronous, and usable from many threads."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from worldfs.ground.errors import BadInput, Exists, NotFound, NotPermitted, UserError
from worldfs.tree import path as paths
from worldfs.tree.leaf import Ask, Spot, Stat, Wait, Written
from worldfs.tree.rights import FIXED, demand_write, may_write
from worldfs.tree.table import Kind
from worldfs.tree.tree import Content

from .identity import identity
from .located import HEAVY, Located, Sources
from .views import own

if TYPE_CHECKING:
    from worldfs.tree.binding import Binding

    from .seat import Seat

_KEPT: Final = frozenset({Kind.RECORD, Kind.DROP, Kind.LOG, Kind.SHEET})  # what may be there with its first write


class Namespace(Located):
    """What a binding may do in its tree. Rights are those of the table, judged by the tree that lies below."""

    def __init__(self, binding: Binding, sources: Sources, seer: Seat) -> None:
        super().__init__(binding, sources, seer)
        seer.readable = self.readable

    # -- looking ------------------------------------------------------------------------------------------------------

    def stat(self, path: str) -> Stat:
        """What is there, with its true size. Never waits. Raises `NotFound`."""
        parts, _, role, found, _ = self._look(path)
        if found is None:
            raise NotFound("no such file or directory", path=path, op="stat", actor=self.binding.role)
        shown = "/" + "/".join(parts)
        name = parts[-1] if parts else "/"
        if isinstance(found, Spot):
            return self._spot(shown, name, found)
        row, names = found
        if row is None:
            return Stat(identity(shown), name, shown, True, 0, False, "", None)
        size, revision = self._size(row, names)
        mtime = 0 if row.view else self._rooms.store(row, names).mtime_ms(self._rooms.key(row, names))
        writable = self._writable(row, names, role)
        return Stat(identity(shown), name, shown, False, size, writable, revision, row.kind, mtime)

    def list(self, path: str) -> list[str]:
        """Names in a directory, sorted by bytes. Raises `NotFound`, `BadInput` (enotdir)."""
        _, real, role, found, _ = self._look(path)
        if found is None:
            raise NotFound("no such file or directory", path=path, op="list", actor=self.binding.role)
        if not (found.directory if isinstance(found, Spot) else found[0] is None):
            raise BadInput("it is a file", path=path, op="list", actor=self.binding.role, code="enotdir")
        return sorted(self.tree.children(real, role))

    def entries(self, path: str) -> Sequence[Stat]:
        """The stats of what is in a directory, by name as `list` sorts; what cannot be looked at is left out."""
        base, spots = path.rstrip("/"), self._exported(path)
        if spots is not None:
            return [self._spot(f"{base}/{name}", name, spots[name]) for name in sorted(spots)]
        found = []
        for name in self.list(path):
            with suppress(UserError):
                found.append(self.stat(f"{base}/{name}"))
        return found

    def read(self, path: str) -> Content:
        """The present bytes of a file. Raises `NotFound`, `BadInput` (eisdir)."""
        _, real, _, found, _ = self._look(path)
        row, names = self.tree.found(real) or (None, {}) if isinstance(found, Spot) else found or (None, {})
        if found is None:
            raise self._absent(path, "read")
        if row is None or (isinstance(found, Spot) and found.directory):
            raise BadInput("it is a directory", path=path, op="read", actor=self.binding.role, code="eisdir")
        if row.view:
            return Content(self.tree.behaviours[row.view].read(names), "")
        stored = self._rooms.store(row, names).get(self._rooms.key(row, names))
        if stored is None:
            raise self._absent(path, "read")
        return Content(stored.data, stored.revision)

    def write(self, path: str, data: bytes, *, offset: int = 0, correlation: str = "") -> Written:
        """Durable when it returns. A Control, a Sheet and a Drop take exactly these bytes, whatever the offset.

        A Record is replaced whole at offset 0, and patched beyond it; a Log is added to.
        """
        real, row, names = self._place(path, "write")
        role = self._role(real)
        if may_write(row, role) and not self._writable(row, names, role):
            raise NotPermitted(own.DENIED, path=path, op="write", actor=role)
        if offset and row.kind is Kind.RECORD:
            present = self.tree.fetch("/" + "/".join(real), role).data
            whole = present[:offset].ljust(offset, b"\0") + data + present[offset + len(data) :]
            written = self.tree.put((path, row, names), whole, Ask(role, offset, correlation))[1]
            return written._replace(n=len(data))
        return self.tree.put((path, row, names), data, Ask(role, offset, correlation))[1]

    def light(self, path: str, *, write: bool = False) -> bool:
        """May it be asked on an event loop? Only what is answered from memory; a write is made durable first."""
        if write:
            return False
        places = self._seer.sight.places
        known = places.get(path)
        if known is not None:
            if known.light is None:
                known = places[path] = known._replace(light=self._light(known.real))
            return known.light is True
        parts = paths.segments(paths.parse(path))
        return self._light(self._real(parts, self._role(parts)))

    def waits(self, path: str) -> Wait | None:
        """What a read of it should wait for first; None: it never blocks, or need not now. Never waits for a disk."""
        known = self._seer.sight.places.get(path)
        if known is None:
            parts = paths.segments(paths.parse(path))
            real = self._real(parts, self._role(parts))
            rows = [place.row for place, _ in self.tree.table.matches(real) if place.row is not None]
            if not rows or not rows[0].blocking or rows[0].room in HEAVY:
                return None
            known = self._look(path)
        if known.found is None or isinstance(known.found, Spot):
            return None
        row, names = known.found
        return self._behaviour(row).wait(names) if row is not None and row.blocking else None

    def readable(self, path: str) -> bool:
        """Is it there for this binding, as a file or a directory?"""
        try:
            self.stat(path)
        except UserError:
            return False
        return True

    def sees(self, node: str, service: str) -> bool:
        """Is that service of that node there for this binding?"""
        self._seer.refresh()
        view = self._seer.sight.node(node)
        return view is not None and service in view.by_id

    # -- names made and unmade ----------------------------------------------------------------------------------------

    def replace(self, path: str, data: bytes, *, correlation: str = "") -> Written:
        """The whole content of a file at once."""
        far = self._far(path, "write")
        if far is None:
            return self.write(path, data, correlation=correlation)
        far[0].replace(far[1], data)
        return Written(len(data))

    def truncate(self, path: str, size: int) -> None:
        """Cut or filled with zeros. What takes orders (a Control, a Sheet, a Drop) holds no content to be cut (D10)."""
        far = self._far(path, "truncate")
        if far is not None:
            return far[0].truncate(far[1], size)
        real, row, names = self._place(path, "truncate")
        role = self._role(real)
        demand_write(row, role, path)
        if not self._writable(row, names, role):
            raise NotPermitted(own.DENIED, path=path, op="truncate", actor=role)
        if row.kind is Kind.LOG:
            raise NotPermitted("a log is only added to", path=path, op="truncate", actor=role, code="eperm")
        if row.kind is Kind.RECORD:
            present = self.tree.fetch("/" + "/".join(real), role).data
            if len(present) != size:
                self.tree.put((path, row, names), present[:size].ljust(size, b"\0"), Ask(role))

    def touch(self, path: str, mtime_ms: int | None) -> bool:
        """The time of last change, kept of files below artifacts/; elsewhere taken from who may write, and not kept."""
        far = self._far(path, "touch")
        if far is not None:  # a node's protocol has no word for it
            if not self.stat(path).writable:
                raise NotPermitted(own.DENIED, path=path, op="touch", actor=self.binding.role)
            return False
        real, row, names = self._place(path, "touch")
        role = self._role(real)
        demand_write(row, role, path)
        if not self._writable(row, names, role):
            raise NotPermitted(own.DENIED, path=path, op="touch", actor=role)
        if row.view or not row.pattern.endswith("*}"):
            return False
        store, key = self._rooms.store(row, names), self._rooms.key(row, names)
        return mtime_ms is not None and store.touch(key, mtime_ms)

    def promise(self, path: str) -> Stat | None:
        """Of a file that is there with its first write, whole: a letter, or a document that nobody has written yet.

        None: it lies in what a node exports. Raises `NotPermitted`, `Exists`.
        """
        if self._far(path, "create") is not None:
            return None
        try:
            real, row, names = self._place(path, "create")
        except NotFound:
            row = None
        if row is None or row.kind not in _KEPT or not self._writable(row, names, self._role(real)):
            raise NotPermitted(FIXED, path=path, op="create", actor=self.binding.role)
        if self._rooms.exists(row, names):
            raise Exists("it is there already", path=path, op="create", actor=self.binding.role)
        parts = self._start(path)
        return Stat(identity("/" + "/".join(parts)), parts[-1], path, False, 0, True, "", row.kind)

    def create(self, path: str, *, directory: bool = False) -> Stat:
        """A new file in what a node exports; a directory there, or of this home where `Tree.mkdir` makes one."""
        far = self._far(path, "create")
        if far is None:  # a file of this home is only promised
            self.tree.mkdir(*self._own_path(path))
        elif directory:
            far[0].mkdir(far[1])
        else:
            far[0].create(far[1])
        return self.stat(path)

    def rename(self, old: str, new: str) -> None:
        """Within one node's exports, where what is at `new` is replaced, or as the tree has it (`Tree.rename`)."""
        far, to = self._far(old, "rename"), self._far(new, "rename")
        if far is None and to is None:
            self.tree.rename(*self._own_path(old), self._own_path(new)[0])
        elif far is None or to is None or far[0] is not to[0]:
            raise BadInput(
                "the two lie in different places", path=new, op="rename", fix="copy it, then remove it", code="invalid"
            )
        else:
            far[0].rename(far[1], to[1])

    def remove(self, path: str) -> None:
        """A file, or an empty directory in what a node exports; of this home, what `Tree.remove` lets go."""
        far = self._far(path, "remove")
        if far is None:
            self.tree.remove(*self._own_path(path))
        else:
            far[0].remove(far[1])

    def _own_path(self, path: str) -> tuple[str, str]:
        """Where it really is, and the role in which this binding touches it there."""
        parts = self._start(path)
        real = self._real(parts, self._role(parts))
        return "/" + "/".join(real), self._role(real)

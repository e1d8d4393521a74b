"""The namespace: one binding's whole tree, as every interface serves it. Synchronous and thread-safe."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from worldfs.access.decision import APPEND_ONLY, FIXED_NAMES, NO_COMMAND
from worldfs.access.judge import require_file
from worldfs.access.things import ServedFile
from worldfs.access.verb import Verb
from worldfs.base.errors import BadInput, Exists, NotFound, UserError
from worldfs.tree import path as paths
from worldfs.tree.row_table import FileKind
from worldfs.tree.verb_values import Content, Stat, Wait, WriteContext, Written

from .path_id import path_id
from .path_resolver import HEAVY, NamespaceSources, PathResolver

if TYPE_CHECKING:
    from worldfs.access.binding import Binding
    from worldfs.access.binding_rights import BindingRights

    from .binding_context import BindingContext

_KEPT: Final = frozenset(
    {FileKind.RECORD, FileKind.DROP, FileKind.LOG, FileKind.SHEET}
)  # what may be there with its first write


class Namespace(PathResolver):
    """The operations of a binding in its tree. The tree below checks the rights of the table."""

    def __init__(self, binding: Binding, sources: NamespaceSources, context: BindingContext) -> None:
        super().__init__(binding, sources, context)
        context.readable = self.readable

    # -- looking ------------------------------------------------------------------------------------------------------

    def stat(self, path: str) -> Stat:
        """The stat of a path, with its true size. Never waits. Raises `NotFound`."""
        parts, _, role, found, _ = self._look(path)
        if found is None:
            raise NotFound("no such file or directory", path=path, op="stat", actor=self.binding.role)
        shown = "/" + "/".join(parts)
        name = parts[-1] if parts else "/"
        if isinstance(found, Stat):
            return self._spot(shown, name, found)
        row, names = found
        if row is None:
            return Stat(True, id=path_id(shown), name=name, path=shown)
        size, revision = self._size(row, names)
        mtime = 0 if row.view else self._mounts.store(row, names).mtime_ms(self._mounts.key(row, names))
        writable = self._writable(row, names, role)
        return Stat(False, size, writable, revision, mtime, row.kind, path_id(shown), name, shown)

    def list(self, path: str) -> list[str]:
        """Names in a directory, sorted by bytes. Raises `NotFound`, `BadInput` (enotdir)."""
        _, real, role, found, _ = self._look(path)
        if found is None:
            raise NotFound("no such file or directory", path=path, op="list", actor=self.binding.role)
        if not (found.directory if isinstance(found, Stat) else found[0] is None):
            raise BadInput("it is a file", path=path, op="list", actor=self.binding.role, code="enotdir")
        return sorted(self.tree.children(real, role))

    def entries(self, path: str) -> Sequence[Stat]:
        """The stats of what is in a directory, by name as `list` sorts; unreadable ones are left out."""
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
        row, names = self.tree.find_row(real) or (None, {}) if isinstance(found, Stat) else found or (None, {})
        if found is None:
            raise self._absent(path, "read")
        if row is None or (isinstance(found, Stat) and found.directory):
            raise BadInput("it is a directory", path=path, op="read", actor=self.binding.role, code="eisdir")
        if row.view:
            return Content(self.tree.behaviours[row.view].read(names), "")
        stored = self._mounts.store(row, names).get(self._mounts.key(row, names))
        if stored is None:
            raise self._absent(path, "read")
        return Content(stored.data, stored.revision)

    def write(self, path: str, data: bytes, *, offset: int = 0, correlation: str = "") -> Written:
        """Durable when it returns. A Control, a Sheet and a Drop take exactly these bytes, whatever the offset.

        A Record is replaced whole at offset 0, and patched beyond it; a Log is appended to.
        """
        real, row, names = self._place(path, "write")
        role = self._role(real)
        require_file(self._context.visible, Verb.WRITE, ServedFile(row, names, role), path)
        if offset and row.kind is FileKind.RECORD:
            present = self.tree.fetch("/" + "/".join(real), role).data
            whole = present[:offset].ljust(offset, b"\0") + data + present[offset + len(data) :]
            written = self.tree.put((path, row, names), whole, WriteContext(role, offset, correlation))[1]
            return written._replace(n=len(data))
        return self.tree.put((path, row, names), data, WriteContext(role, offset, correlation))[1]

    def light(self, path: str, *, write: bool = False) -> bool:
        """Whether it may be called on an event loop: only what is answered from memory; a write is durable first."""
        if write:
            return False
        places = self._context.visible.places
        known = places.get(path)
        if known is not None:
            if known.light is None:
                known = places[path] = known._replace(light=self._light(known.real))
            return known.light is True
        parts = paths.segments(paths.parse(path))
        return self._light(self._real(parts, self._role(parts)))

    def waits(self, path: str) -> Wait | None:
        """The condition that a read of it waits for; None: it does not block. Never waits for a disk."""
        known = self._context.visible.places.get(path)
        if known is None:
            parts = paths.segments(paths.parse(path))
            real = self._real(parts, self._role(parts))
            rows = [place.row for place, _ in self.tree.table.matches(real) if place.row is not None]
            if not rows or not rows[0].blocking or rows[0].mount in HEAVY:
                return None
            known = self._look(path)
        if known.found is None or isinstance(known.found, Stat):
            return None
        row, names = known.found
        return self._behaviour(row).wait(names) if row is not None and row.blocking else None

    def readable(self, path: str) -> bool:
        """Whether this binding sees it, as a file or a directory."""
        try:
            self.stat(path)
        except UserError:
            return False
        return True

    @property
    def rights(self) -> BindingRights:
        """The present rights of this binding."""
        self._context.refresh()
        return self._context.visible

    # -- create and delete --------------------------------------------------------------------------------------------

    def replace(self, path: str, data: bytes, *, correlation: str = "") -> Written:
        """The whole content of a file at once."""
        far = self._far(path, "write")
        if far is None:
            return self.write(path, data, correlation=correlation)
        far[0].replace(far[1], data)
        return Written(len(data))

    def truncate(self, path: str, size: int) -> None:
        """Cut or filled with zeros. A Control, a Sheet and a Drop have no content (acheron D10)."""
        far = self._far(path, "truncate")
        if far is not None:
            return far[0].truncate(far[1], size)
        real, row, names = self._place(path, "truncate")
        role = self._role(real)
        require_file(self._context.visible, Verb.WRITE, ServedFile(row, names, role), path, "truncate")
        if row.kind is FileKind.LOG:
            raise APPEND_ONLY.error(path=path, op="truncate", actor=role)
        if row.kind is FileKind.RECORD:
            present = self.tree.fetch("/" + "/".join(real), role).data
            if len(present) != size:
                self.tree.put((path, row, names), present[:size].ljust(size, b"\0"), WriteContext(role))

    def touch(self, path: str, mtime_ms: int | None) -> bool:
        """The time of last change, kept of files below artifacts/; elsewhere taken from who may write, and not kept."""
        far = self._far(path, "touch")
        if far is not None:  # a node's protocol has no word for it
            if not self.stat(path).writable:
                raise NO_COMMAND.error(path=path, op="touch", actor=self.binding.role)
            return False
        real, row, names = self._place(path, "touch")
        role = self._role(real)
        require_file(self._context.visible, Verb.WRITE, ServedFile(row, names, role), path, "touch")
        if row.view or not row.pattern.endswith("*}"):
            return False
        store, key = self._mounts.store(row, names), self._mounts.key(row, names)
        return mtime_ms is not None and store.touch(key, mtime_ms)

    def promise(self, path: str) -> Stat | None:
        """The stat of a file that exists only with its first write, whole: a message, or a document not yet written.

        None: it is in a node's export. Raises `NotPermitted`, `Exists`.
        """
        if self._far(path, "create") is not None:
            return None
        try:
            real, row, names = self._place(path, "create")
        except NotFound:
            row = None
        if row is None or row.kind not in _KEPT or not self._writable(row, names, self._role(real)):
            raise FIXED_NAMES.error(path=path, op="create", actor=self.binding.role)
        if self._mounts.exists(row, names):
            raise Exists("it already exists", path=path, op="create", actor=self.binding.role)
        parts = self._start(path)
        return Stat(False, writable=True, kind=row.kind, id=path_id("/" + "/".join(parts)), name=parts[-1], path=path)

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
        """Within one node's exports, where a file at `new` is replaced, or as `Tree.rename`."""
        far, to = self._far(old, "rename"), self._far(new, "rename")
        if far is None and to is None:
            self.tree.rename(*self._own_path(old), self._own_path(new)[0])
        elif far is None or to is None or far[0] is not to[0]:
            raise BadInput(
                "the two are on different mounts", path=new, op="rename", fix="copy it, then remove it", code="invalid"
            )
        else:
            far[0].rename(far[1], to[1])

    def remove(self, path: str) -> None:
        """Remove a file, or an empty directory, in a node's export; in this home as `Tree.remove`."""
        far = self._far(path, "remove")
        if far is None:
            self.tree.remove(*self._own_path(path))
        else:
            far[0].remove(far[1])

    def _own_path(self, path: str) -> tuple[str, str]:
        """The real path, and the role of this binding there."""
        parts = self._start(path)
        real = self._real(parts, self._role(parts))
        return "/" + "/".join(real), self._role(real)

"""The bound node: what a walk found, and what every verb asks of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, cast

from worldfs.access.decision import APPEND_ONLY, NO_COMMAND
from worldfs.base.errors import BadInput, NotFound, UserError
from worldfs.base.messages import coded
from worldfs.storage.plain_files import PlainFiles
from worldfs.storage.store_interface import ANY, Expected
from worldfs.tree.row_table import FileKind, FileRow
from worldfs.tree.verb_values import WAITING_SIZE, Content, Stat, Wait, WriteContext, Written
from worldfs.tree.virtual_file import StreamFile

from .path_id import path_id

if TYPE_CHECKING:
    from worldfs.storage.store_interface import Store
    from worldfs.tree.virtual_file import FileBehaviour

    from .namespace import Namespace
    from .namespace_ports import NodeExports
    from .tree import Resolved
    from .views.node_subtree import NodeSubtree

HEAVY: Final = frozenset({"workspace", "workspace_pages", "mind", "mind_pages"})  # mounts whose files are on the disk
LARGE: Final = 64 << 20  # bytes of a stored file: a larger one is not read for its revision
_DIRECTORY: Final = Stat(True)
_PROMISED: Final = Stat(False, writable=True)
_ONCE_WRITTEN: Final = frozenset({FileKind.RECORD, FileKind.DROP, FileKind.LOG, FileKind.SHEET})


class ResolvedPath:
    """What a path leads to: its row, its names, the role of the binding there. Unchanged but for what it keeps."""

    __slots__ = ("behaviour", "content", "entry", "light", "names", "path", "real", "role", "row", "stat", "state")

    def __init__(
        self,
        path: str,
        real: tuple[str, ...],
        role: str,
        found: Resolved,
        behaviour: FileBehaviour,
        *,
        state: object = None,
    ) -> None:
        self.path = path
        self.real = real  # behind the links that the path walks through
        self.role = role
        self.row, self.names, self.entry = found
        self.behaviour = behaviour  # of a computed file
        self.state = state  # the path leads there for as long as the actor sees this state; None: ask again
        self.light: bool | None = None  # whether its content is answered from memory; None: nothing asked so far
        self.content: Content | None = None  # of a file that says the same for as long as the state is the same
        self.stat: Stat | None = None  # of such a file, and of a directory

    @property
    def directory(self) -> bool:
        return self.row is None or (self.entry is not None and self.entry.directory)

    @property
    def behind_links(self) -> str:
        """The path that the links lead to; "" where the path walks through none."""
        real = "/" + "/".join(self.real)
        return "" if real == self.path else real


class Node:
    """One path of one binding. It is bound at the walk, and again only when what the binding sees has changed: then it
    may have gone (`NotFound`). Synchronous, usable from many threads.

    `promised`: the name of a file that its first write makes.
    """

    __slots__ = ("_at", "_space", "directory", "id", "path", "promised")

    def __init__(self, space: Namespace, at: ResolvedPath, *, promised: bool = False) -> None:
        self._space, self._at, self.promised = space, at, promised
        self.path, self.directory = at.path, at.directory
        self.id = path_id(at.path)

    # -- looking ------------------------------------------------------------------------------------------------------

    @property
    def light(self) -> bool:
        """Whether its verbs that look may be called on an event loop: they are answered from memory."""
        at = self._at
        if at.light is None:
            at.light = self._space.light_at(at)
        return at.light and not self.promised

    def stat(self, *, sized: bool = True) -> Stat:
        """With the true size; without (`sized=False`), no file is rendered. Never waits."""
        return self._stat(self._now("stat"), sized)

    def found(self, *, sized: bool = True) -> Stat:
        """The stat of what the walk found, for a caller that asks right after it: the path is not resolved again."""
        return self._stat(self._at, sized)

    def _stat(self, at: ResolvedPath, sized: bool) -> Stat:
        if at.stat is not None:
            return at.stat
        found, row, kind = _DIRECTORY, at.row, None
        if self.promised:
            found, kind = _PROMISED, None if row is None else row.kind
        elif at.entry is not None:
            found, kind = at.entry, _entry_kind(at.entry)
        elif row is not None:
            writable, kind = self._space.writable(row, at.names, at.role), row.kind
            found = self._file_stat(at, row, writable) if sized else Stat(False, writable=writable)
        name = self.path.rpartition("/")[2] or "/"
        found = found._replace(kind=kind, id=self.id, name=name, path=self.path, real=at.behind_links)
        if at.state is not None and (row is None or at.content is not None):
            at.stat = found
        return found

    def writable(self) -> bool:
        at = self._now("stat")
        if self.promised or at.entry is not None:
            return at.entry is None or at.entry.writable
        return at.row is not None and self._space.writable(at.row, at.names, at.role)

    def list(self) -> list[str]:
        """The names in a directory, sorted by bytes."""
        at = self._now("list")
        if not at.directory:
            raise BadInput(coded("tree.is_file"), path=self.path, op="list", actor=at.role, code="enotdir")
        return sorted(self._space.tree.children(at.real, at.role))

    def children(self) -> Sequence[tuple[str, bool]]:
        """The names in a directory with whether each is a directory, sorted; nothing below is opened."""
        at = self._now("list")
        if not at.directory:
            raise BadInput(coded("tree.is_file"), path=self.path, op="list", actor=at.role, code="enotdir")
        there = self._exported(at)
        if there is not None:
            return sorted((name, spot.directory) for name, spot in there.items())
        return sorted((name, row is None) for name, row in self._space.tree.children(at.real, at.role).items())

    def entries(self, *, sized: bool = True) -> Sequence[Stat]:
        """The stats of what is in a directory, by name as `list` sorts; unreadable ones are left out."""
        at, base = self._now("list"), self.path.rstrip("/")
        there = self._exported(at)
        if there is not None:
            return [
                spot._replace(kind=_entry_kind(spot), id=path_id(f"{base}/{name}"), name=name, path=f"{base}/{name}")
                for name, spot in sorted(there.items())
            ]
        found = []
        for name in self.list():
            with suppress(UserError):
                found.append(self._space.walk(f"{base}/{name}").found(sized=sized))
        return found

    def read(self, last: bytes = b"") -> Content:
        """The present bytes of a file; of a stream, what is new since `last`. Never waits."""
        at = self._now("read")
        if at.row is not None and at.row.blocking and isinstance(at.behaviour, StreamFile):
            return Content(at.behaviour.read_after(at.names, last))
        if at.content is not None:
            return at.content
        row = at.row
        if row is None or at.directory:
            raise BadInput(coded("tree.is_directory"), path=self.path, op="read", actor=at.role, code="eisdir")
        if row.view:
            return self._render(at, row)
        store, key = self._space.stored(row, at.names)
        stored = store.get(key)
        if stored is None:
            raise self._absent("read")
        return Content(stored.data, stored.revision)

    @property
    def source(self) -> tuple[Store, str] | None:
        """Store and key of what lies in a store, as the walk found it; None: it is computed, or of the layout alone."""
        at = self._at
        return None if at.row is None or at.row.view else self._space.stored(at.row, at.names)

    @property
    def state(self) -> object:
        """The path leads here for as long as what the actor sees is this object; None: a walk must ask again."""
        return self._at.state

    @property
    def blocking(self) -> bool:
        """Whether a read may wait for something; `wait` says for what, where this process publishes it."""
        return self._at.row is not None and self._at.row.blocking

    def peek(self) -> Content | None:
        """The present bytes of a computed file, rendered without waiting; None: stored or exported bytes, a directory,
        and a file whose read delivers something."""
        at = self._now("read")
        row = at.row
        if row is None or not row.view or at.entry is not None or self.promised:
            return None
        if at.content is None and row.blocking and at.behaviour.size(at.names) is not None:
            return None
        return self.read()

    @property
    def delivers(self) -> bool:
        """Whether a read hands over something that the same actor's next read does not have."""
        at = self._now("read")
        if at.row is None or at.content is not None or at.row.mount in HEAVY:
            return False
        return at.row.blocking and at.behaviour.size(at.names) is not None

    def wait(self, last: bytes = b"") -> Wait | None:
        """The condition that a read of it waits for; None: it does not block. Never asks a disk.

        `last`: what the same reader read before, of a stream.
        """
        row = self._at.row
        if row is None or not row.blocking or row.mount in HEAVY:
            return None
        at = self._now("read")
        if at.row is None:
            return None
        if isinstance(at.behaviour, StreamFile):
            return at.behaviour.wait_after(at.names, last)
        return at.behaviour.wait(at.names)

    # -- writing ------------------------------------------------------------------------------------------------------

    def write(self, data: bytes, *, offset: int = 0, correlation: str = "", expect: Expected = ANY) -> Written:
        """Durable when it returns. A Control, a Sheet and a Drop take exactly these bytes, whatever the offset.

        A Record is replaced whole at offset 0, and patched beyond it; a Log is appended to.
        """
        at, row = self._writing("write")
        context = WriteContext(at.role, offset, correlation, self._space.actor_name)
        if offset and row.kind is FileKind.RECORD:
            present = self.read().data
            whole = present[:offset].ljust(offset, b"\0") + data + present[offset + len(data) :]
            return self._put(at, row, whole, context)._replace(n=len(data))
        return self._put(at, row, data, context, expect)

    def replace(self, data: bytes, *, correlation: str = "") -> Written:
        """The whole content of a file at once."""
        far = self._far(self._now("write"), "write")
        if far is None:
            return self.write(data, correlation=correlation)
        far[0].replace(far[1], data)
        return Written(len(data))

    def truncate(self, size: int) -> None:
        """Cut or filled with zeros. A Control, a Sheet and a Drop have no content (acheron D10)."""
        far = self._far(self._now("truncate"), "truncate")
        if far is not None:
            return far[0].truncate(far[1], size)
        at, row = self._writing("truncate")
        if row.kind is FileKind.LOG:
            raise APPEND_ONLY.error(path=self.path, op="truncate", actor=at.role)
        if row.kind is FileKind.RECORD:
            present = self.read().data
            if len(present) != size:
                context = WriteContext(at.role, name=self._space.actor_name)
                self._put(at, row, present[:size].ljust(size, b"\0"), context)

    def touch(self, mtime_ms: int | None) -> bool:
        """The time of last change, kept of files below artifacts/; elsewhere taken from who may write, and not kept."""
        at = self._now("touch")
        if self._far(at, "touch") is not None:  # a node's protocol has no word for it
            if at.entry is None or not at.entry.writable:
                raise NO_COMMAND.error(path=self.path, op="touch", actor=at.role)
            return False
        at, row = self._writing("touch")
        if row.view or not row.pattern.endswith("*}") or self.promised:
            return False
        store, key = self._space.stored(row, at.names)
        if mtime_ms is None or not isinstance(store, PlainFiles):
            return False
        store.touch(key, mtime_ms)
        return True

    # -- create and delete --------------------------------------------------------------------------------------------

    def create(self, name: str, *, directory: bool = False) -> Node:
        """A new file or directory in what a node exports, a directory of this home where `Tree.mkdir` makes one.

        Any other new file is promised: it is there with its first write, whole (a message, a document not yet written).
        Raises `NotPermitted`, `Exists`.
        """
        space, path = self._space, f"{self.path.rstrip('/')}/{name}"
        real, role = space.real_path(path)
        far = space.exports(real, role, "create")
        if far is None and not directory:
            return space.promise(path)
        if far is None:
            space.tree.mkdir(real, role)
        elif directory:
            far[0].mkdir(far[1])
        else:
            far[0].create(far[1])
        return space.walk(path)

    def remove(self, name: str) -> None:
        """Remove a file, or an empty directory, in a node's export; in this home as `Tree.remove`."""
        real, role = self._space.real_path(f"{self.path.rstrip('/')}/{name}")
        far = self._space.exports(real, role, "remove")
        if far is None:
            self._space.tree.remove(real, role)
        else:
            far[0].remove(far[1])

    def rename(self, name: str, target: Node, new: str) -> None:
        """From this directory to another: within one node's exports, where a file at `new` is replaced, or as
        `Tree.rename`."""
        space, path = self._space, f"{target.path.rstrip('/')}/{new}"
        (old, role), (to, there) = space.real_path(f"{self.path.rstrip('/')}/{name}"), space.real_path(path)
        far, other = space.exports(old, role, "rename"), space.exports(to, there, "rename")
        if far is None and other is None:
            space.tree.rename(old, role, to)
        elif far is None or other is None or far[0] is not other[0]:
            raise BadInput(
                coded("tree.other_mount"), path=path, op="rename", fix=coded("tree.copy_remove"), code="invalid"
            )
        else:
            far[0].rename(far[1], other[1])

    # -- inside -------------------------------------------------------------------------------------------------------

    def _now(self, op: str) -> ResolvedPath:
        """What the path leads to now: the one place that decides whether the binding of the walk still holds."""
        space, at = self._space, self._at
        if at.state is None or at.state is not space.state():
            self._at = at = space.place(self.path, op) if self.promised else space.resolve(self.path, op)
        return at

    def require_writable(self, op: str) -> None:
        """Raises `NotPermitted`, and `BadInput` for a directory."""
        self._writing(op)

    def _writing(self, op: str) -> tuple[ResolvedPath, FileRow]:
        at = self._now(op)
        row = at.row
        if row is None or at.directory:
            raise BadInput(coded("tree.is_directory"), path=self.path, op=op, actor=at.role, code="eisdir")
        self._space.require_writable(row, at.names, at.role, self.path, op)
        return at, row

    def _put(
        self, at: ResolvedPath, row: FileRow, data: bytes, context: WriteContext, expect: Expected = ANY
    ) -> Written:
        written = self._space.tree.put(row, at.names, data, context, expect)
        self.promised = False
        return written

    def _render(self, at: ResolvedPath, row: FileRow) -> Content:
        if row.mount in HEAVY and at.state is not None and not self._space.exists(row, at.names):
            raise self._absent("read")
        content = Content(at.behaviour.read(at.names))
        if at.state is not None and at.behaviour.fixed:
            at.content = content
        return content

    def _file_stat(self, at: ResolvedPath, row: FileRow, writable: bool) -> Stat:
        if row.view:
            return Stat(False, self._size(at, row), writable)
        store, key = self._space.stored(row, at.names)
        info = store.info(key) if isinstance(store, PlainFiles) else None
        changed = 0 if info is None else info.mtime_ms
        if info is not None and info.size > LARGE:
            return Stat(False, info.size, writable, mtime_ms=changed)
        stored = store.get(key)
        if stored is None:
            raise self._absent("stat")
        return Stat(False, len(stored.data), writable, stored.revision, changed)

    def _size(self, at: ResolvedPath, row: FileRow) -> int:
        if at.content is not None:
            return len(at.content.data)
        behaviour = at.behaviour
        if row.blocking and row.mount not in HEAVY and behaviour.wait(at.names) is not None:
            return WAITING_SIZE
        size = behaviour.size(at.names)
        return len(self._render(at, row).data) if size is None else size

    def _far(self, at: ResolvedPath, op: str) -> tuple[NodeExports, str] | None:
        return self._space.exports(at.real, at.role, op) if at.entry is not None else None

    def _exported(self, at: ResolvedPath) -> Mapping[str, Stat] | None:
        """The entries of a directory inside an export, by one request to its node; None elsewhere."""
        row = at.row
        if row is None or row.view != "mounts" or not at.directory:
            return None
        exports, there = cast("NodeSubtree", self._space.tree.behaviours["mounts"]).exported(at.names) or (None, "")
        return exports.dir_entries(there) if exports is not None and there else None

    def _absent(self, op: str) -> NotFound:
        return NotFound(coded("tree.no_file"), path=self.path, op=op, actor=self._at.role)


def _entry_kind(entry: Stat) -> FileKind | None:
    return None if entry.directory else FileKind.CONTROL if entry.writable else FileKind.VIEW


def may_promise(at: ResolvedPath) -> bool:
    """Whether its file may be there with its first write."""
    return at.row is not None and at.row.kind in _ONCE_WRITTEN

"""The namespace: the whole tree as one file role sees it, in which a walk binds a node. Synchronous, thread-safe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from worldfs.access.decision import FIXED_NAMES
from worldfs.access.judge import judge, require
from worldfs.access.verb import Verb
from worldfs.base.errors import BadInput, Exists, NotFound
from worldfs.base.messages import coded
from worldfs.tree import path as paths
from worldfs.tree.row_table import FileKind, FileRow
from worldfs.tree.virtual_file import FileBehaviour, Names, VirtualFile

from .node import HEAVY, Node, ResolvedPath, may_promise
from .path_verbs import PathVerbs
from .tree import Resolved, Tree
from .views.past_files import past_subtrees

if TYPE_CHECKING:
    from worldfs.storage.store_interface import Store

    from .namespace_ports import NodeExports
    from .tree import Parts


class Namespace(PathVerbs):
    """The tree of a home for one role: what the command uses, and the world's own parts.

    `starting`: with the rights of a world that is being assembled. What a binding sees is more: `BindingNamespace`.
    """

    def __init__(self, tree: Tree, actor: str, *, starting: bool = False, name: str = "") -> None:
        """`actor`: the role. `name`: the actor's name where it is not a process of this disk that takes the role."""
        behaviours = {**past_subtrees(self), **tree.behaviours}
        self.tree = Tree(tree.table, tree.mounts, behaviours, tree.alias)
        self.actor, self.actor_name = actor, name or actor
        self._write = Verb.WRITE_AT_STARTUP if starting else Verb.WRITE

    # -- a path -------------------------------------------------------------------------------------------------------

    def walk(self, path: str) -> Node:
        return Node(self, self.resolve(path))

    def target(self, path: str) -> Node:
        try:
            return self.walk(path)
        except NotFound:
            return Node(self, self.place(path, "write"), promised=True)

    def promise(self, path: str) -> Node:
        """The node of a file that is there with its first write. Raises `NotPermitted`, `Exists`."""
        try:
            at = self.place(path, "create")
        except NotFound:
            at = None
        row = at.row if at is not None else None
        if at is None or row is None or not may_promise(at) or not self.writable(row, at.names, at.role):
            raise FIXED_NAMES.error(path=path, op="create", actor=self.actor)
        if self.exists(row, at.names):
            raise Exists(coded("tree.exists"), path=path, op="create", actor=self.actor)
        return Node(self, at, promised=True)

    def resolve(self, path: str, op: str = "walk") -> ResolvedPath:
        """What a path leads to, if the actor sees it. Raises `NotFound`, and `BadInput` for what is no path."""
        real, role = self.real_path(path)
        found = self.tree.resolve(real, role)
        if found is None:
            row = (self.tree.find_row(real) or (None,))[0]
            if row is not None:
                require(role, Verb.READ, row, path, op)  # says that nothing is visible to this role
            raise NotFound(coded("tree.no_file_or_directory"), path=path, op=op, actor=role, fix=coded("tree.ls"))
        state = self.state() if lasting(found) else None
        return ResolvedPath("/" + "/".join(real), real, role, found, self.behaviour(found.row), state=state)

    def place(self, path: str, op: str) -> ResolvedPath:
        """The file of a path as its writer finds it: it need not be there yet, nor be readable."""
        real, role = self.real_path(path)
        found = self.tree.find_row(real) if role else None
        if found is None:
            raise NotFound(coded("tree.no_file"), path=path, op=op, actor=self.actor)
        row, names = found
        if row.kind is not FileKind.DROP and not self._may_be(row, names):
            raise NotFound(coded("tree.no_file"), path=path, op=op, actor=self.actor)
        return ResolvedPath("/" + "/".join(paths.segments(path)), real, role, Resolved(row, names), self.behaviour(row))

    def light(self, path: str) -> bool:
        """Whether a walk there may be made on an event loop: it asks no disk and no other machine."""
        return False

    def light_at(self, at: ResolvedPath) -> bool:
        """The same of the verbs that look, at a path that a walk has found."""
        return False

    def real_path(self, path: str) -> tuple[Parts, str]:
        """The segments of a path behind the links that it walks through, and the file role of the actor there."""
        return paths.segments(paths.parse(path)), self.actor

    # -- what a node asks ---------------------------------------------------------------------------------------------

    def state(self) -> object:
        """What the actor sees now: a node holds for as long as this is the same object."""
        return self

    def stored(self, row: FileRow, names: Names) -> tuple[Store, str]:
        mounts = self.tree.mounts
        return mounts.store(row, names), mounts.key(row, names)

    def source(self, path: str) -> tuple[Store, str]:
        """Store and key whose changes are those of a file, which need not be there yet.

        Raises `NotFound`, and `BadInput` for a computed file.
        """
        real, role = self.real_path(path)
        found = self.tree.find_row(real)
        if found is None:
            raise NotFound(coded("tree.no_file"), path=path, op="watch", actor=role)
        require(role, Verb.READ, found[0], path)
        if not found[0].key:
            raise BadInput(coded("tree.no_changes"), path=path, op="watch", actor=role)
        return self.stored(*found)

    def exists(self, row: FileRow, names: Names) -> bool:
        return self.tree.mounts.exists(row, names)

    def writable(self, row: FileRow, names: Names, role: str) -> bool:
        return bool(judge(role, self._write, row))

    def require_writable(self, row: FileRow, names: Names, role: str, path: str, op: str) -> None:
        """Raises `NotPermitted`; `NotFound` for what the actor may not see."""
        require(role, self._write, row, path, op)

    def exports(self, real: Parts, role: str, op: str) -> tuple[NodeExports, str] | None:
        """The exports behind a path, and the path in them; None for a path of this home."""
        return None

    def behaviour(self, row: FileRow | None) -> FileBehaviour:
        return cast("FileBehaviour", self.tree.behaviours[row.view]) if row is not None and row.view else _STORED

    def _may_be(self, row: FileRow, names: Names) -> bool:
        """Whether the file of a row is there, or its first write would make it."""
        if not row.pattern.endswith("*}"):
            return self.exists(row, names) or (row.mount in HEAVY and row.written)
        return not row.view


def lasting(found: Resolved) -> bool:
    """Whether a path leads there for as long as what the actor sees is unchanged; agents and links come and go."""
    row, names = found.row, found.names
    if row is not None and (found.entry is not None or row.pattern.endswith("*}")):
        return found.directory and _computed(row, names)
    if row is not None and (row.mount in STEADY or row.mount == "job"):  # a job's files ask for it themselves
        return row.kind is not FileKind.LINK
    return (row is None or row.mount in HEAVY) and "job" not in names and "agent" not in names


def _computed(row: FileRow, names: Names) -> bool:
    """Whether the directories of a row are computed from what the actor sees; those that a node exports are its own."""
    return row.view == "service_inside" or (row.view == "mounts" and names["mount"].partition("/")[0] != "fs")


STEADY: Final = frozenset({"served", "house", "node", "service", "debug", "project", "workspace_live"})
_STORED: Final = cast("FileBehaviour", VirtualFile())

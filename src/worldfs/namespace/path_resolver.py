"""The path resolver of a binding: follows links, and resolves a path in the role that the binding has there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, cast

from worldfs.access import visibility
from worldfs.access.judge import judge, require
from worldfs.access.things import ServedFile
from worldfs.access.verb import Verb
from worldfs.base.errors import BadInput, NotFound
from worldfs.tree import path as paths
from worldfs.tree.row_table import FileKind, FileRow, RowTable
from worldfs.tree.verb_values import Stat
from worldfs.tree.virtual_file import FileBehaviour, Names, Subtree, VirtualFile

from .path_id import path_id
from .tree import Mounts, Tree
from .views import node_files, node_subtree, own_files, pairing_files, project_files, status_file
from .views.fixed_files import LiteralFile, ReadmeFile
from .views.readme_pages import ReadmePages

if TYPE_CHECKING:
    from worldfs.access.binding import Binding

    from .binding_context import BindingContext
    from .namespace_ports import NodeExports

_SELF: Final = ("agents", "self")
_LINKS: Final = frozenset({"fs_link", "node_link", "agent_link"})  # views whose target a path walks through
_STEADY: Final = frozenset({"served", "house", "node", "service", "debug", "project"})
PLACES_MOST: Final = 16_384  # resolved paths that one `VisibleState` keeps
LINKS_MOST: Final = 8  # links that one path may walk through
HEAVY: Final = frozenset({"workspace", "workspace_pages", "mind", "mind_pages"})  # mounts whose files are on the disk


class ResolvedPath(NamedTuple):
    """The resolved entry of a path, and its real path."""

    parts: tuple[str, ...]
    real: tuple[str, ...]  # behind the links that the path walks through
    role: str  # of the binding there; "" sees nothing
    found: Stat | tuple[FileRow | None, dict[str, str]] | None
    light: bool | None = None  # None: not computed yet


class NamespaceSources(NamedTuple):
    """What a namespace is made from; `ServedWorld` provides it."""

    table: RowTable
    readmes: ReadmePages
    literals: LiteralFile
    mounts: dict[str, Mounts]  # of the home: "workspace", "mind"; those that exist
    behaviours: dict[str, FileBehaviour]  # of the home's rows


class PathResolver:
    """A tree whose mounts list only what the binding may see, and the resolution of its paths."""

    def __init__(self, binding: Binding, sources: NamespaceSources, context: BindingContext) -> None:
        self.binding = binding
        self._context = context
        self._base_role = visibility.role_at(binding, ())
        self._own_role = visibility.role_at(binding, _SELF)
        from .mounts.joined_mounts import JoinedMounts
        from .mounts.visible_mounts import (
            SERVED,
            ReadmeMount,
            VisibleAgents,
            VisibleMounts,
            VisibleWorkspace,
        )

        behaviours: dict[str, FileBehaviour | Subtree] = {
            **sources.behaviours,
            "literal": sources.literals,
            **node_files.views(context),
            **project_files.views(context),
            **own_files.views(context),
            **pairing_files.views(context),
            **status_file.views(context),
            **node_subtree.subtrees(context),
        }
        mounts: dict[str, Mounts] = dict.fromkeys(SERVED, VisibleMounts(context, behaviours))
        if "workspace" in sources.mounts:
            mounts["workspace"] = workspace = VisibleWorkspace(context, sources.mounts["workspace"])
            mounts["workspace_pages"] = ReadmeMount(workspace)
        if "mind" in sources.mounts:
            mounts["mind"] = minds = VisibleAgents(context, sources.mounts["mind"])
            mounts["mind_pages"] = ReadmeMount(minds)
        self._mounts = JoinedMounts(mounts)
        behaviours["readme"] = ReadmeFile(binding, sources.readmes, self._mounts, frozenset(mounts))
        self.tree = Tree(sources.table, self._mounts, behaviours, {("agent", "self"): binding.agent})

    def _far(self, path: str, op: str) -> tuple[NodeExports, str] | None:
        """The exports behind a path, and the path in them; None for a path of this home."""
        parts = self._start(path)
        real = self._real(parts, self._role(parts))
        role = self._role(real)
        found = self.tree.find_row(real) if role else None
        if found is None or found[0].view != "mounts" or not judge(role, Verb.WRITE, found[0]):
            return None
        return cast("node_subtree.NodeSubtree", self.tree.behaviours["mounts"]).reached(found[1], op)

    def _exported(self, path: str) -> dict[str, Stat] | None:
        """The entries of a directory inside an export, by one request to its node; None elsewhere."""
        _, real, _, spot, _ = self._look(path)
        found = self.tree.find_row(real) if isinstance(spot, Stat) and spot.directory else None
        if found is None or found[0].view != "mounts":
            return None
        exports, there = cast("node_subtree.NodeSubtree", self.tree.behaviours["mounts"]).exported(found[1]) or (
            None,
            "",
        )
        return exports.dir_entries(there) if exports is not None and there else None

    # -- inside -------------------------------------------------------------------------------------------------------

    def _role(self, parts: tuple[str, ...]) -> str:
        return self._own_role if parts[:2] == _SELF else self._base_role

    def _look(self, path: str) -> ResolvedPath:
        """Resolve a path. A result that cannot change while the `VisibleState` is the same is kept."""
        self._context.refresh()
        known = self._context.visible.places
        looked = known.get(path)
        if looked is not None:
            return looked
        parts = paths.segments(paths.parse(path))
        role = self._role(parts)
        real = self._real(parts, role)
        if real is not parts:
            role = self._role(real)
        found = self.tree.resolve(real, role) if role else None
        looked = ResolvedPath(parts, real, role, found)
        if found is not None and not isinstance(found, Stat) and real is parts and _steady(*found):
            if len(known) >= PLACES_MOST:
                known.clear()
            known[path] = looked
        return looked

    def _light(self, real: tuple[str, ...]) -> bool:
        if real[:1] == ("nodes",) and real[2:3] == ("fs",):
            return False  # on another machine
        for place, names in self.tree.table.matches(real):
            row = place.row
            if row is not None:
                return row.mount not in HEAVY and (not row.view or self._behaviour(row).light)
            if any(below.mount in HEAVY for below in place.rows) and (names or real == ("agents",)):
                return False
        return True

    def _start(self, path: str) -> tuple[str, ...]:
        self._context.refresh()
        return paths.segments(paths.parse(path))

    def _real(self, parts: tuple[str, ...], role: str) -> tuple[str, ...]:
        """The real path behind the links on the way. A final link is not followed."""
        for _ in range(LINKS_MOST):
            if len(parts) < 5 or parts[0] != "projects":
                return parts
            found = self.tree.resolve(parts[:4], role)
            if found is None or isinstance(found, Stat):
                return parts
            row, names = found
            if row is None or row.view not in _LINKS:
                return parts
            link = cast("project_files.LinkFile", self.tree.behaviours[row.view])
            parts = paths.segments(link.target(names)) + parts[4:]
        raise BadInput("too many links", path="/" + "/".join(parts), op="walk")

    def _place(self, path: str, op: str) -> tuple[tuple[str, ...], FileRow, Names]:
        parts = self._start(path)
        real = self._real(parts, self._role(parts))
        role = self._role(real)
        found = self.tree.find_row(real)
        if found is None or not role:
            if role and self.tree.resolve(real, role) is not None:
                raise BadInput("it is a directory", path=path, op=op, actor=self.binding.role, code="eisdir")
            raise self._absent(path, op)
        row, names = found
        # A role that may write but not read (an inbox) sees the name as far as it may write it.
        if op == "read" or not judge(role, Verb.WRITE, row):
            require(role, Verb.READ, row, path)
        if row.kind is not FileKind.DROP and not self._there(row, names):
            raise self._absent(path, op)
        if not row.view and row.pattern.endswith("*}"):
            spot = self.tree.resolve(real, role)
            if isinstance(spot, Stat) and spot.directory:
                raise BadInput("it is a directory", path=path, op=op, actor=self.binding.role, code="eisdir")
        return real, row, names

    def _there(self, row: FileRow, names: Names) -> bool:
        if not row.pattern.endswith("*}"):
            return self._mounts.exists(row, names) or (row.mount in HEAVY and bool(row.writers))
        if not row.view:
            return True
        branch = cast("Subtree", self.tree.behaviours[row.view])
        spot = branch.dir_entry(names)
        if spot is not None and spot.directory:
            raise BadInput("it is a directory", path=row.fill(names), code="eisdir")
        return spot is not None

    def _absent(self, path: str, op: str) -> NotFound:
        return NotFound("no such file", path=path, op=op, actor=self.binding.role)

    def _behaviour(self, row: FileRow) -> FileBehaviour:
        return cast("FileBehaviour", self.tree.behaviours[row.view]) if row.view else _STORED

    def _writable(self, row: FileRow, names: Names, role: str) -> bool:
        return bool(judge(self._context.visible, Verb.WRITE, ServedFile(row, names, role)))

    def _spot(self, shown: str, name: str, spot: Stat) -> Stat:
        kind = None if spot.directory else FileKind.CONTROL if spot.writable else FileKind.VIEW
        return spot._replace(kind=kind, id=path_id(shown), name=name, path=shown)

    def _size(self, row: FileRow, names: Names) -> tuple[int, str]:
        if not row.view:
            stored = self._mounts.store(row, names).get(self._mounts.key(row, names))
            return (len(stored.data), stored.revision) if stored is not None else (0, "")
        behaviour = self._behaviour(row)
        if row.blocking and row.mount not in HEAVY and behaviour.wait(names) is not None:
            return own_files.WAITING_SIZE, ""
        size = behaviour.size(names)
        return len(behaviour.read(names)) if size is None else size, ""


def _steady(row: FileRow | None, names: Names) -> bool:
    """Whether a path exists for as long as the `VisibleState` is unchanged; jobs, agents and links come and go."""
    if row is None:
        return "job" not in names and "agent" not in names
    return row.mount in _STEADY and row.kind is not FileKind.LINK


_STORED: Final = cast("FileBehaviour", VirtualFile())

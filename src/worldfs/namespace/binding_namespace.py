"""The namespace of a binding: follows links, and resolves a path in the role that the binding has there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, cast

from worldfs.access.judge import judge, require_file
from worldfs.access.things import ServedFile
from worldfs.access.verb import Verb
from worldfs.base.errors import BadInput, NotFound, UserError
from worldfs.base.messages import coded
from worldfs.tree import path as paths
from worldfs.tree.row_table import FileRow, RowTable
from worldfs.tree.virtual_file import FileBehaviour, Names, Subtree

from .mounts.joined_mounts import JoinedMounts
from .mounts.visible_mounts import SERVED, ReadmeMount, VisibleAgents, VisibleMounts, VisibleWorkspace
from .namespace import STEADY, Namespace, lasting
from .node import HEAVY, ResolvedPath
from .tree import Mounts, Tree
from .views import node_files, node_subtree, own_files, pairing_files, project_files, status_file
from .views.fixed_files import LiteralFile, ReadmeFile
from .views.past_files import ROOTS
from .views.readme_pages import ReadmePages

if TYPE_CHECKING:
    from worldfs.access.binding import Binding
    from worldfs.access.binding_rights import BindingRights

    from .binding_context import BindingContext
    from .namespace_ports import NodeExports
    from .visible_state import VisibleState

_SELF: Final = ("agents", "self")
_LINKS: Final = frozenset({"fs_link", "node_link", "agent_link"})  # views whose target a path walks through
PLACES_MOST: Final = 16_384  # resolved paths that one `VisibleState` keeps
LINKS_MOST: Final = 8  # links that one path may walk through


class NamespaceSources(NamedTuple):
    """What a namespace is made from; `ServedWorld` provides it."""

    table: RowTable
    readmes: ReadmePages
    literals: LiteralFile
    mounts: dict[str, Mounts]  # of the home: "workspace", "mind"; those that exist
    behaviours: dict[str, FileBehaviour]  # of the home's rows


class BindingNamespace(Namespace):
    """A namespace whose mounts list only what the binding may see, as every interface serves it."""

    def __init__(self, binding: Binding, sources: NamespaceSources, context: BindingContext) -> None:
        self.binding = binding
        self.context = context
        self._base_role = binding.role_at(())
        self._own_role = binding.role_at(_SELF)

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
            mounts["workspace_live"] = workspace  # what the kernel holds in memory
        if "mind" in sources.mounts:
            mounts["mind"] = minds = VisibleAgents(context, sources.mounts["mind"])
            mounts["mind_pages"] = ReadmeMount(minds)
        joined = JoinedMounts(mounts)
        behaviours["readme"] = ReadmeFile(binding, sources.readmes, joined, frozenset(mounts))
        tree = Tree(sources.table, joined, behaviours, {("agent", "self"): binding.agent})
        super().__init__(tree, binding.role, name=binding.actor)
        context.readable = self.readable

    # -- a path -------------------------------------------------------------------------------------------------------

    def resolve(self, path: str, op: str = "walk") -> ResolvedPath:
        """What a path leads to, if the binding sees it. Raises `NotFound`, and `BadInput` for what is no path."""
        state = self.context.refresh()
        known = state.places.get(path)
        if known is not None:
            return known
        parts = paths.segments(paths.parse(path))
        real, role = self._real(parts)
        found = self.tree.resolve(real, role) if role else None
        if found is None:
            raise NotFound(coded("tree.no_file_or_directory"), path=path, op=op, actor=self.binding.role)
        lasts = real is parts and lasting(found)
        behaviour = self.behaviour(found.row)
        at = ResolvedPath("/" + "/".join(parts), real, role, found, behaviour, state=state if lasts else None)
        if lasts and (found.row is None or found.row.mount in STEADY):  # no disk says whether it is there
            if len(state.places) >= PLACES_MOST:
                state.places.clear()
            state.places[path] = at
        return at

    def light(self, path: str) -> bool:
        """Whether a walk there may be made on an event loop: it asks no disk and no other machine."""
        if path in self.context.visible.places:
            return True
        return self._light(self._real(paths.segments(paths.parse(path)))[0])

    def light_at(self, at: ResolvedPath) -> bool:
        row = at.row
        if row is None or at.entry is not None:
            return self._light(at.real)
        return row.mount not in HEAVY and (not row.view or at.behaviour.light)

    def real_path(self, path: str) -> tuple[tuple[str, ...], str]:
        """The segments of a path behind the links that it walks through, and the role of the binding there."""
        self.context.refresh()
        return self._real(paths.segments(paths.parse(path)))

    # -- what a node asks ---------------------------------------------------------------------------------------------

    def state(self) -> VisibleState:
        return self.context.refresh()

    def writable(self, row: FileRow, names: Names, role: str) -> bool:
        return bool(judge(self.context.visible, Verb.WRITE, ServedFile(row, names, role)))

    def require_writable(self, row: FileRow, names: Names, role: str, path: str, op: str) -> None:
        require_file(self.context.visible, Verb.WRITE, ServedFile(row, names, role), path, op)

    def exports(self, real: tuple[str, ...], role: str, op: str) -> tuple[NodeExports, str] | None:
        """The exports behind a path, and the path in them; None for a path of this home."""
        found = self.tree.find_row(real) if role else None
        if found is None or found[0].view != "mounts" or not judge(role, Verb.WRITE, found[0]):
            return None
        return cast("node_subtree.NodeSubtree", self.tree.behaviours["mounts"]).reached(found[1], op)

    # -- what the binding sees ---------------------------------------------------------------------------------------

    def readable(self, path: str) -> bool:
        """Whether this binding sees it, as a file or a directory."""
        try:
            self.resolve(path)
        except UserError:
            return False
        return True

    @property
    def rights(self) -> BindingRights:
        """The present rights of this binding."""
        return self.context.refresh()

    # -- inside -------------------------------------------------------------------------------------------------------

    def _role(self, parts: tuple[str, ...]) -> str:
        return self._own_role if parts[:2] == _SELF else self._base_role

    def _light(self, real: tuple[str, ...]) -> bool:
        if real[:1] == ("nodes",) and real[2:3] == ("fs",):
            return False  # on another machine
        if real[:1] and real[0] in ROOTS:
            return False  # on the disk
        for place, names in self.tree.table.matches(real):
            row = place.row
            if row is not None:
                return row.mount not in HEAVY and (not row.view or self.behaviour(row).light)
            if any(below.mount in HEAVY for below in place.rows) and (names or real == ("agents",)):
                return False
        return True

    def _may_be_link(self, parts: tuple[str, ...]) -> bool:
        """Whether the layout has a link of such a name: only then is it asked."""
        return any(place.row is not None and place.row.view in _LINKS for place, _ in self.tree.table.matches(parts))

    def _real(self, parts: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
        """The real path behind the links on the way (a final link is not followed), and the role there."""
        role = self._role(parts)
        for _ in range(LINKS_MOST):
            if len(parts) < 5 or parts[0] != "projects" or not self._may_be_link(parts[:4]):
                return parts, role
            found = self.tree.resolve(parts[:4], role)
            if found is None or found.row is None or found.row.view not in _LINKS:
                return parts, role
            link = cast("project_files.LinkFile", self.tree.behaviours[found.row.view])
            parts = paths.segments(link.target(found.names)) + parts[4:]
            role = self._role(parts)
        raise BadInput(coded("tree.too_many_links"), path="/" + "/".join(parts), op="walk")

"""The rooms of a served tree as one binding sees them: what it may not see is not there."""

from __future__ import annotations

from typing import cast

from worldfs.ground.errors import NotFound
from worldfs.tree.row_table import FileRow
from worldfs.tree.stores.store_interface import Store
from worldfs.tree.tree import Mounts
from worldfs.tree.virtual_file import FileBehaviour, Names, Subtree
from worldfs.world.views.bound_file import ViewContext
from worldfs.world.views.project_files import LinkFile

SERVED = ("served", "house", "node", "service", "peer", "job", "project", "debug")
_LINKS = {"link": "fs_link", "member": "node_link", "mate": "agent_link"}


class VisibleMounts:
    """Everything that is computed for the binding; its files lie in no store."""

    def __init__(self, seer: ViewContext, behaviours: dict[str, FileBehaviour | Subtree]) -> None:
        self._seer = seer
        self._behaviours = behaviours

    def store(self, row: FileRow, names: Names) -> Store:
        raise NotFound("it lies in no store", path=row.pattern)

    def key(self, row: FileRow, names: Names) -> str:
        return ""

    def holds(self, room: str, names: Names) -> bool:
        sight = self._seer.sight
        match room:
            case "served" | "house":
                return True
            case "node":
                return "node" not in names or names["node"] in sight.node_set
            case "service":
                if "node" not in names:
                    return True
                view = sight.node(names["node"])
                return view is not None and ("service" not in names or names["service"] in view.by_id)
            case "peer":
                return "alias" not in names and ("agent" not in names or names["agent"] in sight.agents)
            case "job":
                return "job" not in names or self._seer.acts.jobs.has(names["job"])
            case "project":
                return "project" not in names or sight.of(names["project"]) is not None
            case "debug":
                return sight.debug
        return False

    def names(self, room: str, variable: str, names: Names) -> list[str]:
        sight = self._seer.sight
        match variable:
            case "node":
                return sight.nodes
            case "service":
                view = sight.node(names["node"])
                return list(view.by_id) if view is not None else []
            case "agent":
                return sight.agents
            case "job":
                return list(self._seer.acts.jobs.ids())
            case "project":
                return [sight.project] if sight.beside is None else [sight.project, sight.sources.home]
            case "link" | "member" | "mate":
                return cast("LinkFile", self._behaviours[_LINKS[variable]]).links(names)
        return []

    def exists(self, row: FileRow, names: Names) -> bool:
        return cast("FileBehaviour", self._behaviours[row.view]).exists(
            names
        )  # rows that may be absent are no branches


class VisibleWorkspace:
    """The home's own workspace, for who sees its project, and each body of it for who sees that node."""

    def __init__(self, seer: ViewContext, inner: Mounts) -> None:
        self._seer = seer
        self._inner = inner

    def store(self, row: FileRow, names: Names) -> Store:
        return self._inner.store(row, names)

    def key(self, row: FileRow, names: Names) -> str:
        return self._inner.key(row, names)

    def holds(self, room: str, names: Names) -> bool:
        sight = self._seer.sight
        if "project" in names and not sight.home:
            return False
        if "node" in names and names["node"] not in sight.bodies:
            return False
        return self._inner.holds(room, names)

    def names(self, room: str, variable: str, names: Names) -> list[str]:
        sight = self._seer.sight
        if variable == "project" and not sight.home:
            return []
        found = self._inner.names(room, variable, names)
        return [name for name in found if name in sight.bodies] if variable == "node" else found

    def exists(self, row: FileRow, names: Names) -> bool:
        return self._inner.exists(row, names)


class VisibleAgents:
    """What agents keep: one's own, and of the agents that one sees what the table lets one read."""

    def __init__(self, seer: ViewContext, inner: Mounts) -> None:
        self._seer = seer
        self._inner = inner

    def store(self, row: FileRow, names: Names) -> Store:
        return self._inner.store(row, names)

    def key(self, row: FileRow, names: Names) -> str:
        return self._inner.key(row, names)

    def holds(self, room: str, names: Names) -> bool:
        if "agent" not in names:
            return True
        sight = self._seer.sight
        agent = names["agent"]
        return (agent == sight.binding.agent or agent in sight.agents) and self._inner.holds(room, names)

    def names(self, room: str, variable: str, names: Names) -> list[str]:
        found = self._inner.names(room, variable, names)
        return [name for name in found if name in self._seer.sight.agents] if variable == "agent" else found

    def exists(self, row: FileRow, names: Names) -> bool:
        return self._inner.exists(row, names)


class ReadmeMount:
    """README.md in the directories of another room."""

    def __init__(self, of: Mounts) -> None:
        self._of = of

    def store(self, row: FileRow, names: Names) -> Store:
        raise NotFound("it lies in no store", path=row.pattern)

    def key(self, row: FileRow, names: Names) -> str:
        return ""

    def holds(self, room: str, names: Names) -> bool:
        return self._of.holds(room, names)

    def names(self, room: str, variable: str, names: Names) -> list[str]:
        return []  # the room itself lists them

    def exists(self, row: FileRow, names: Names) -> bool:
        return True

"""The mounts of a served tree as one binding sees them: what it may not see does not exist."""

from __future__ import annotations

from typing import cast

from worldfs.access.judge import judge
from worldfs.access.things import AgentName, NodeName, ProjectName, Realm, RobotName
from worldfs.access.verb import Verb
from worldfs.base.errors import NotFound
from worldfs.base.messages import coded
from worldfs.storage.store_interface import Store
from worldfs.tree.row_table import FileRow
from worldfs.tree.virtual_file import FileBehaviour, Names, Subtree

from ..tree import Mounts
from ..views.bound_file import ViewContext
from ..views.project_files import LinkFile

SERVED = ("served", "house", "node", "service", "peer", "job", "project", "debug")
_LINKS = {"link": "fs_link", "member": "node_link", "mate": "agent_link"}


class VisibleMounts:
    """Everything that is computed for the binding; its files are in no store."""

    def __init__(self, context: ViewContext, behaviours: dict[str, FileBehaviour | Subtree]) -> None:
        self._context = context
        self._behaviours = behaviours

    def store(self, row: FileRow, names: Names) -> Store:
        raise NotFound(coded("tree.in_no_store"), path=row.pattern)

    def key(self, row: FileRow, names: Names) -> str:
        return ""

    def holds(self, mount: str, names: Names) -> bool:
        visible = self._context.visible
        match mount:
            case "served" | "house":
                return True
            case "node":
                return "node" not in names or bool(judge(visible, Verb.SEE, NodeName(names["node"])))
            case "service":
                if "node" not in names:
                    return True
                view = visible.node(names["node"])
                return view is not None and ("service" not in names or names["service"] in view.by_id)
            case "peer":
                return "alias" not in names and (
                    "agent" not in names or bool(judge(visible, Verb.SEE, AgentName(names["agent"])))
                )
            case "job":
                return "job" not in names or self._context.actions.jobs.has(names["job"])
            case "project":
                return "project" not in names or bool(judge(visible, Verb.SEE, ProjectName(names["project"])))
            case "debug":
                return bool(judge(visible, Verb.SEE, Realm.DEBUG))
        return False

    def names(self, mount: str, variable: str, names: Names) -> list[str]:
        visible = self._context.visible
        match variable:
            case "node":
                return visible.nodes
            case "service":
                view = visible.node(names["node"])
                return list(view.by_id) if view is not None else []
            case "agent":
                return visible.agents
            case "job":
                return list(self._context.actions.jobs.ids())
            case "project":
                return [visible.project] if visible.home_state is None else [visible.project, visible.sources.home]
            case "link" | "member" | "mate":
                return cast("LinkFile", self._behaviours[_LINKS[variable]]).links(names)
        return []

    def exists(self, row: FileRow, names: Names) -> bool:
        return cast("FileBehaviour", self._behaviours[row.view]).exists(
            names
        )  # rows that may be absent are no subtrees


class _InnerMounts:
    """Where the bytes are is the inner mounts' to say; a subclass says what its binding sees of them."""

    def __init__(self, context: ViewContext, inner: Mounts) -> None:
        self._context = context
        self._inner = inner

    def store(self, row: FileRow, names: Names) -> Store:
        return self._inner.store(row, names)

    def key(self, row: FileRow, names: Names) -> str:
        return self._inner.key(row, names)

    def exists(self, row: FileRow, names: Names) -> bool:
        return self._inner.exists(row, names)


class VisibleWorkspace(_InnerMounts):
    """The home's own workspace for bindings that see its project, and each node of it for those that see the node."""

    def holds(self, mount: str, names: Names) -> bool:
        visible = self._context.visible
        if "project" in names and not judge(visible, Verb.SEE, Realm.WORKSPACE):
            return False
        if "node" in names and not judge(visible, Verb.SEE, RobotName(names["node"])):
            return False
        return self._inner.holds(mount, names)

    def names(self, mount: str, variable: str, names: Names) -> list[str]:
        visible = self._context.visible
        if variable == "project" and not judge(visible, Verb.SEE, Realm.WORKSPACE):
            return []
        found = self._inner.names(mount, variable, names)
        return [name for name in found if name in visible.bodies] if variable == "node" else found


class VisibleAgents(_InnerMounts):
    """The agents' state: the binding's own, and of the other visible agents what the table permits."""

    def holds(self, mount: str, names: Names) -> bool:
        if "agent" not in names:
            return True
        visible = self._context.visible
        agent = names["agent"]
        return bool(judge(visible, Verb.SEE, AgentName(agent))) and self._inner.holds(mount, names)

    def names(self, mount: str, variable: str, names: Names) -> list[str]:
        found = self._inner.names(mount, variable, names)
        return [name for name in found if name in self._context.visible.agents] if variable == "agent" else found


class ReadmeMount:
    """README.md in the directories of another mount."""

    def __init__(self, of: Mounts) -> None:
        self._of = of

    def store(self, row: FileRow, names: Names) -> Store:
        raise NotFound(coded("tree.in_no_store"), path=row.pattern)

    def key(self, row: FileRow, names: Names) -> str:
        return ""

    def holds(self, mount: str, names: Names) -> bool:
        return self._of.holds(mount, names)

    def names(self, mount: str, variable: str, names: Names) -> list[str]:
        return []  # the other mount lists them

    def exists(self, row: FileRow, names: Names) -> bool:
        return True

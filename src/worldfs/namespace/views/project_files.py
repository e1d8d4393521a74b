"""The files and links of the bound project, and the files of /meta about it and the binding."""

from __future__ import annotations

from worldfs.base.errors import NotFound
from worldfs.base.json_text import compact_json
from worldfs.base.messages import coded
from worldfs.tree.virtual_file import FileBehaviour, Names

from .bound_file import BoundFile, ViewContext
from .project_view import FILES, ProjectView, project_view


def views(context: ViewContext) -> dict[str, FileBehaviour]:
    return {
        "project_meta": ProjectMetaFile(context),
        "own_project": ProjectMetaFile(context),
        "fs_link": FsLinkFile(context),
        "node_link": NodeLinkFile(context),
        "agent_link": AgentLinkFile(context),
        "peer_link": PeerLinkFile(context),
        "view": BindingViewFile(context),
    }


class _ProjectFile(BoundFile):
    def view(self, names: Names) -> ProjectView:
        """The view of the project in the path, else of the bound one."""
        visible = self.context.visible
        found = visible.project_state(names["project"]) if "project" in names else visible
        if found is None:
            raise NotFound(coded("tree.no_project"), path=f"/projects/{names['project']}", op="read")
        return project_view(found)


class ProjectMetaFile(_ProjectFile):
    def read(self, names: Names) -> bytes:
        return compact_json(FILES[names["file"]](self.view(names)))


class LinkFile(_ProjectFile):
    """A file that holds a target path."""

    variable = ""

    def targets(self, view: ProjectView) -> dict[str, str]:
        raise NotImplementedError

    def links(self, names: Names) -> list[str]:
        return list(self.targets(self.view(names)))

    def target(self, names: Names) -> str:
        """Raises `NotFound`."""
        found = self.targets(self.view(names)).get(names[self.variable])
        if found is None:
            raise NotFound(coded("tree.no_link"), path=names[self.variable], op="read")
        return found

    def read(self, names: Names) -> bytes:
        return (self.target(names) + "\n").encode()

    def exists(self, names: Names) -> bool:
        return names[self.variable] in self.targets(self.view(names))


class FsLinkFile(LinkFile):
    variable = "link"

    def targets(self, view: ProjectView) -> dict[str, str]:
        return view.fs_links()


class NodeLinkFile(LinkFile):
    variable = "member"

    def targets(self, view: ProjectView) -> dict[str, str]:
        return view.node_links()


class AgentLinkFile(LinkFile):
    variable = "mate"

    def targets(self, view: ProjectView) -> dict[str, str]:
        return view.agent_links()


class PeerLinkFile(BoundFile):
    """LINK.txt of an agent: /agents/self for the binding's own."""

    fixed = True

    def read(self, names: Names) -> bytes:
        own = names["agent"] == self.context.visible.binding.agent
        return b"/agents/self\n" if own else f"/agents/{names['agent']}\n".encode()


class BindingViewFile(BoundFile):
    """/meta/view.json."""

    fixed = True

    def read(self, names: Names) -> bytes:
        visible = self.context.visible
        return compact_json(
            {
                "agent_id": visible.binding.agent,
                "project_id": visible.project,
                "show_debug": visible.debug,
                "nodes": len(visible.policy.nodes),
                "visible_agents": len(visible.agents),
                "project_links": len(visible.policy.links),
            }
        )

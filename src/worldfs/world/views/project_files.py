"""The files and links of the bound project, and what /meta says of it and of the binding itself."""

from __future__ import annotations

from worldfs.ground.errors import NotFound
from worldfs.tree.virtual_file import FileBehaviour, Names
from worldfs.world.json_text import compact_json

from .bound_file import BoundFile, ViewContext
from .project_view import FILES, ProjectView, project_view


def views(seer: ViewContext) -> dict[str, FileBehaviour]:
    return {
        "project_meta": ProjectMetaFile(seer),
        "own_project": ProjectMetaFile(seer),
        "fs_link": FsLinkFile(seer),
        "node_link": NodeLinkFile(seer),
        "agent_link": AgentLinkFile(seer),
        "peer_link": PeerLinkFile(seer),
        "view": BindingViewFile(seer),
    }


class _ProjectFile(BoundFile):
    def view(self, names: Names) -> ProjectView:
        """Of the project in the path; without one there, of the bound one."""
        sight = self.seer.sight
        found = sight.of(names["project"]) if "project" in names else sight
        if found is None:
            raise NotFound("no such project", path=f"/projects/{names['project']}", op="read")
        return project_view(found)


class ProjectMetaFile(_ProjectFile):
    def read(self, names: Names) -> bytes:
        return compact_json(FILES[names["file"]](self.view(names)))


class LinkFile(_ProjectFile):
    """A file that holds the path of another place."""

    variable = ""

    def targets(self, view: ProjectView) -> dict[str, str]:
        raise NotImplementedError

    def links(self, names: Names) -> list[str]:
        return list(self.targets(self.view(names)))

    def target(self, names: Names) -> str:
        """Raises `NotFound`."""
        found = self.targets(self.view(names)).get(names[self.variable])
        if found is None:
            raise NotFound("no such link", path=names[self.variable], op="read")
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
    """LINK.txt of an agent: yourself by name is /agents/self."""

    def read(self, names: Names) -> bytes:
        own = names["agent"] == self.seer.sight.binding.agent
        return b"/agents/self\n" if own else f"/agents/{names['agent']}\n".encode()


class BindingViewFile(BoundFile):
    """/meta/view.json."""

    def read(self, names: Names) -> bytes:
        sight = self.seer.sight
        return compact_json(
            {
                "agent_id": sight.binding.agent,
                "project_id": sight.project,
                "show_debug": sight.debug,
                "nodes": len(sight.policy.nodes),
                "visible_agents": len(sight.agents),
                "project_links": len(sight.policy.links),
            }
        )

"""The files and links of the bound project, and what /meta says of it and of the binding itself."""

from __future__ import annotations

from worldfs.ground.errors import NotFound
from worldfs.tree.leaf import Behaviour, Names

from ..compact import compact
from .project import FILES, ProjectView, project_view
from .seen import Seen, Seer


def views(seer: Seer) -> dict[str, Behaviour]:
    return {
        "project_meta": Meta(seer),
        "own_project": Meta(seer),
        "fs_link": FsLink(seer),
        "node_link": NodeLink(seer),
        "agent_link": AgentLink(seer),
        "peer_link": PeerLink(seer),
        "view": View(seer),
    }


class _Project(Seen):
    def view(self, names: Names) -> ProjectView:
        """Of the project in the path; without one there, of the bound one."""
        sight = self.seer.sight
        found = sight.of(names["project"]) if "project" in names else sight
        if found is None:
            raise NotFound("no such project", path=f"/projects/{names['project']}", op="read")
        return project_view(found)


class Meta(_Project):
    def read(self, names: Names) -> bytes:
        return compact(FILES[names["file"]](self.view(names)))


class Link(_Project):
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


class FsLink(Link):
    variable = "link"

    def targets(self, view: ProjectView) -> dict[str, str]:
        return view.fs_links()


class NodeLink(Link):
    variable = "member"

    def targets(self, view: ProjectView) -> dict[str, str]:
        return view.node_links()


class AgentLink(Link):
    variable = "mate"

    def targets(self, view: ProjectView) -> dict[str, str]:
        return view.agent_links()


class PeerLink(Seen):
    """LINK.txt of an agent: yourself by name is /agents/self."""

    def read(self, names: Names) -> bytes:
        own = names["agent"] == self.seer.sight.binding.agent
        return b"/agents/self\n" if own else f"/agents/{names['agent']}\n".encode()


class View(Seen):
    """/meta/view.json."""

    def read(self, names: Names) -> bytes:
        sight = self.seer.sight
        return compact(
            {
                "agent_id": sight.binding.agent,
                "project_id": sight.project,
                "show_debug": sight.debug,
                "nodes": len(sight.policy.nodes),
                "visible_agents": len(sight.agents),
                "project_links": len(sight.policy.links),
            }
        )

"""The rows of a project: links to what it shares, and its computed files (004 "Project View")."""

from __future__ import annotations

from worldfs.access.roles import EVERYBODY
from worldfs.tree.row_table import FileKind, FileRow

from .row_builders import directory_rows, view_row

PROJECT = "/projects/{project}"
META = {
    "topology": "the nodes and links that policy gives the project",
    "nodes": "each node of the project: its worst mount, and how many",
    "agents": "the agents that you see here, and where they are",
    "sources": "where the views of this project come from: the control plane, or policy",
    "contracts": "which directories, files and links a project always has",
    "paths": "where to begin",
    "summary": "the project in one file",
    "alerts": "what is wrong with it now",
    "workspace_status": "its mounts as the control plane sees them",
    "mounts": "the mounts that are selected now",
    "desired_mounts": "every mount that was asked for",
    "actual_mounts": "one selected mount a path",
    "drift": "where the two differ",
    "reconcile": "how far the control plane is with mending that",
    "availability": "how many mounts are online, degraded, missing",
    "health": "all of that as one word, and its reasons",
}
META_FILES = [f"{name}.json" for name in META]

_PROJECTS = {
    "kind": "collection",
    "entries": "project directories",
    "shape": "/projects/<project_id>/{fs,agents,meta}",
}


def _links(path: str, entries: str, more: dict[str, str]) -> dict[str, str]:
    return {"kind": "collection", "entries": entries, **more}


def _link(path: str, about: str, name: str) -> FileRow:
    return FileRow(path, FileKind.LINK, about, EVERYBODY, view=name, mount="project")


ROWS: tuple[FileRow, ...] = (
    *directory_rows("/projects", "Projects", "The project that you are bound to; nobody else's is here.", _PROJECTS),
    *directory_rows(
        PROJECT,
        "Project {project}",
        "A shared scope: its files, its nodes, its agents, and what there is to say about them.",
        {"kind": "project", "children": ["fs", "nodes", "agents", "meta"]},
        mount="project",
    ),
    *directory_rows(
        PROJECT + "/fs",
        "Files of {project}",
        "One link a mount. A link is a file that holds its target, and is walked through like the directory it names.",
        _links("fs", "mount links", {"source": "control.workspace_status mounts"}),
        mount="project",
    ),
    _link(PROJECT + "/fs/{link}", "the target of a mount, below /nodes", "fs_link"),
    *directory_rows(
        PROJECT + "/nodes",
        "Nodes of {project}",
        "One link a node of the project.",
        _links("nodes", "node links", {"source": "control.workspace_status selected mounts"}),
        mount="project",
    ),
    _link(PROJECT + "/nodes/{member}", "the target of a node, below /nodes", "node_link"),
    *directory_rows(
        PROJECT + "/agents",
        "Agents of {project}",
        "One link an agent that you see here; `self` is you.",
        _links("agents", "agent links", {"self": "/agents/self"}),
        mount="project",
    ),
    _link(PROJECT + "/agents/{mate}", "the target of an agent, below /agents", "agent_link"),
    *directory_rows(
        PROJECT + "/meta",
        "About {project}",
        "The project, computed: what it consists of, where that comes from, and how it is.",
        {"kind": "metadata", "files": META_FILES},
        mount="project",
    ),
    *(
        view_row(f"{PROJECT}/meta/{name}.json", about, "project_meta", mount="project")._replace(given={"file": name})
        for name, about in META.items()
    ),
)

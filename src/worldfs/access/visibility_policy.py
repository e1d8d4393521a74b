"""The visibility policy of an agent, compiled from agent_policy.json and project_policy.json (004).

A missing or unreadable manifest, and a field of the wrong type, count as empty, with a warning.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Final, NamedTuple, TypeGuard

from worldfs.base.errors import NotFound, WorldError
from worldfs.base.given_file import read_given_file
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_list, as_objects
from worldfs.base.model import Json

from .binding import MOTHER, SYSTEM, Binding

MAX_BYTES: Final = 1 << 20
RESOURCES: Final = ("fs", "camera", "screen", "user")
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9._-]{1,128}")
_NAME: Final = re.compile(r"[^/\\\x00-\x1f\x7f]{1,200}")

FileStamp = tuple[int, int, int]  # of a manifest: time, size, inode; zeros when it is not there


class PolicyNode(NamedTuple):
    id: str
    resources: tuple[str, ...]  # of RESOURCES, in that order
    terminals: tuple[str, ...]


class PolicyLink(NamedTuple):
    name: str
    node: str
    resource: str  # a resource, or "terminal/1"

    @property
    def target(self) -> str:
        return f"/nodes/{self.node}/{self.resource}"


class VisibilityPolicy(NamedTuple):
    agent: str
    project: str
    show_debug: bool
    nodes: tuple[PolicyNode, ...]
    visible_agents: tuple[str, ...]
    links: tuple[PolicyLink, ...]
    named_agents: bool = False  # a manifest names the visible agents
    named_nodes: bool = False  # a manifest names the nodes
    warnings: tuple[str, ...] = ()


LOCAL: Final = PolicyNode("local", ("fs",), ("1",))


class PolicyCache:
    """The policies of one home, each compiled when it is first asked for and again when a manifest has changed."""

    def __init__(self, home: str | os.PathLike[str]) -> None:
        self._home = os.fspath(home)
        self._known: dict[tuple[str, str], tuple[tuple[str, str], tuple[FileStamp, FileStamp], VisibilityPolicy]] = {}

    def policy(self, binding: Binding) -> VisibilityPolicy:
        """Of the binding's agent in its project; a binding without one has the project that its manifest names."""
        known = self._known.get((binding.agent, binding.project))
        if known is not None:
            (agent, project), stamps, policy = known
            if (_stamp(agent), _stamp(project)) == stamps:
                return policy
        # Stamped before they are read: a change meanwhile is seen the next time.
        agent = self._agent(binding.agent)
        first = _stamp(agent)
        policy = compile_policy(binding, self._load)
        project = self._project(policy.project)
        second = _stamp(project)
        if second != (0, 0, 0):
            policy = compile_policy(binding, self._load)
        self._known[binding.agent, binding.project] = (agent, project), (first, second), policy
        return policy

    def _agent(self, agent: str) -> str:
        return os.path.join(self._home, "agents", agent, "agent_policy.json") if _identifier(agent) else ""

    def _project(self, project: str) -> str:
        return os.path.join(self._home, "projects", project, "project_policy.json") if _identifier(project) else ""

    def _load(self, kind: str, name: str) -> tuple[dict[str, object], str]:
        """The manifest and a warning; an empty manifest when there is none."""
        path = self._agent(name) if kind == "agent" else self._project(name)
        try:
            data = read_given_file(path, op="read", most=MAX_BYTES)
        except NotFound:
            return {}, ""
        except WorldError as error:
            return {}, str(error)
        try:
            value = parse_json(data)
        except ValueError as error:
            return {}, f"{path}: not JSON: {error}"
        return (value, "") if isinstance(value, dict) else ({}, f"{path}: not a JSON object")


def compile_policy(binding: Binding, load: Callable[[str, str], tuple[dict[str, object], str]]) -> VisibilityPolicy:
    """The agent's manifest, then the project's over it. `load(kind, name)` gives a manifest and a warning."""
    agent_says, unread = load("agent", binding.agent)
    warnings = [unread]
    project = binding.project
    named = agent_says.get("project_id")
    if not project and _identifier(named):
        project = named
    project = project or SYSTEM
    project_says, warning = load("project", project)
    says = {**_typed(agent_says, warnings), **_typed(project_says, warnings)}
    nodes = tuple(_nodes(as_objects(says["nodes"]))) if "nodes" in says else (LOCAL,)
    links = tuple(_links(as_objects(says["project_links"]))) if "project_links" in says else tuple(_derived(nodes))
    agents = [name for name in as_list(says.get("visible_agents")) if _identifier(name)]
    if binding.agent not in agents:
        agents.append(binding.agent)
    return VisibilityPolicy(
        binding.agent,
        project,
        says.get("show_debug", binding.agent == MOTHER) is True,
        nodes,
        tuple(dict.fromkeys(agents)),
        links,
        "visible_agents" in says,
        "nodes" in says,
        tuple(text for text in (*warnings, warning) if text),
    )


_TYPES: Final = {"show_debug": bool, "nodes": list, "visible_agents": list, "project_links": list}


def _typed(says: dict[str, object], warnings: list[str]) -> dict[str, object]:
    for name, kind in _TYPES.items():
        if name in says and not isinstance(says[name], kind):
            warnings.append(f"{name}: found {type(says[name]).__name__}, expected {kind.__name__}")
    return {name: says[name] for name, kind in _TYPES.items() if isinstance(says.get(name), kind)}


def _nodes(entries: list[Json]) -> list[PolicyNode]:
    nodes: dict[str, PolicyNode] = {}
    for entry in entries:
        id = entry.get("id")
        if not _identifier(id) or id in nodes:
            continue
        given = entry.get("resources")
        resources = given if isinstance(given, dict) else {"fs": True}
        terminals = entry.get("terminals")
        ids = [t for t in terminals if _identifier(t)] if isinstance(terminals, list) else []
        if not ids and resources.get("fs", True) is True:
            ids = ["1"]
        had = tuple(name for name in RESOURCES if resources.get(name, name == "fs") is True)
        nodes[id] = PolicyNode(id, had, tuple(dict.fromkeys(ids)))
    return list(nodes.values())


def _links(entries: list[Json]) -> list[PolicyLink]:
    links: dict[str, PolicyLink] = {}
    for entry in entries:
        node = entry.get("node_id")
        if not _identifier(node):
            continue
        resource = entry.get("resource", "fs")
        name = entry.get("name", f"{node}::{resource}")
        parts = resource.split("/") if isinstance(resource, str) else [""]
        if all(_identifier(part) for part in parts) and isinstance(name, str) and is_valid_name(name):
            links.setdefault(name, PolicyLink(name, node, "/".join(parts)))
    return list(links.values())


def _derived(nodes: tuple[PolicyNode, ...]) -> list[PolicyLink]:
    """Without links of their own, nodes give one each: `<node>::fs` (acheron D38: of existing nodes)."""
    return [PolicyLink(f"{node.id}::fs", node.id, "fs") for node in nodes if "fs" in node.resources]


def is_valid_name(name: str) -> bool:
    """Whether it may be one segment of a path."""
    return name not in (".", "..") and _NAME.fullmatch(name) is not None


def _identifier(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and _IDENTIFIER.fullmatch(value) is not None and value not in (".", "..")


def _stamp(path: str) -> FileStamp:
    try:
        found = os.stat(path) if path else None
    except (OSError, ValueError):
        found = None
    if found is None:
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino

"""The sixteen files about a project, and its links (004 "Project View"; reference 4.6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from worldfs.access.visibility_policy import RESOURCES
from worldfs.base.json_values import as_int, as_object, as_objects

if TYPE_CHECKING:
    from ..visible_state import VisibleState

Json = dict[str, object]
CONTRACT: Final = "acheron-worldfs-project-contract-v1"
_RANK: Final = {"missing": 0, "degraded": 1, "unknown": 2, "online": 3}  # the worst first
_UNKNOWN_STATUS: Final[Json] = {
    "source": "policy",
    "workspace_root": None,
    "mounts": [],
    "desired_mounts": [],
    "actual_mounts": [],
    "drift": {"count": 0, "items": []},
    "availability": {"mounts_total": 0, "online": 0, "degraded": 0, "missing": 0},
    "reconcile_state": "unknown",
    "last_reconcile_ms": 0,
    "last_success_ms": 0,
    "last_error": None,
    "queue_depth": 0,
}


class ProjectView:
    """A project as one binding sees it. `status`: the live workspace status, None: policy is used."""

    def __init__(self, visible: VisibleState, status: Mapping[str, object] | None) -> None:
        self.visible, self.status = visible, status
        self.mounts: Sequence[Mapping[str, object]] = as_objects(status.get("mounts")) if status is not None else ()

    # -- links --------------------------------------------------------------------------------------------------------

    def fs_links(self) -> dict[str, str]:
        """Name → target, in mount order; a name that is taken gets `~2`, `~3`, … (acheron D25)."""
        links: dict[str, str] = {}
        if not self.mounts:
            for link in self.visible.policy.links:
                view = self.visible.node(link.node)
                if view is not None and view.folders.directory(tuple(link.resource.split("/"))) is not None:
                    links[link.name] = link.target
            return links
        for mount in self.mounts:
            name = link_name(str(mount["mount_path"]))
            number, free = 1, name
            while free in links:
                number += 1
                free = f"{name}~{number}"
            links[free] = f"/nodes/{mount['node_id']}/fs/{mount['export_name']}"
        return links

    def node_links(self) -> dict[str, str]:
        """The nodes of policy, and those of the selected mounts; of the home's own project also its bodies."""
        visible = self.visible
        ids = {node.id for node in visible.policy.nodes} | {str(mount["node_id"]) for mount in self.mounts}
        if visible.project == visible.sources.home:
            ids.update(visible.bodies)
        return {id: f"/nodes/{id}" for id in sorted(ids) if id in visible.node_set}

    def agent_links(self) -> dict[str, str]:
        return {"self": "/agents/self", **{name: f"/agents/{name}" for name in self.visible.agents}}

    # -- the files ----------------------------------------------------------------------------------------------------

    def topology(self) -> Json:
        policy = self.visible.policy
        return {
            "project_id": self.visible.project,
            "agent_id": policy.agent,
            "nodes": [
                {
                    "id": node.id,
                    "resources": {name: name in node.resources for name in RESOURCES},
                    "terminals": list(node.terminals),
                }
                for node in policy.nodes
            ],
            "project_links": [
                {"name": link.name, "node_id": link.node, "resource": link.resource, "target": link.target}
                for link in policy.links
            ],
        }

    def nodes(self) -> list[Json]:
        if self.status is None:
            return [{"node_id": node.id, "state": "unknown", "mounts": 0} for node in self.visible.policy.nodes]
        states: dict[str, list[str]] = {}
        for mount in self.mounts:
            states.setdefault(str(mount["node_id"]), []).append(str(mount.get("state", "unknown")))
        return [
            {"node_id": id, "state": min(states[id], key=lambda word: _RANK.get(word, 2)), "mounts": len(states[id])}
            for id in sorted(states)
        ]

    def agents(self) -> list[Json]:
        own: list[Json] = [{"name": "self", "target": "/agents/self", "kind": "self"}]
        return own + [{"name": name, "target": f"/agents/{name}", "kind": "visible"} for name in self.visible.agents]

    def sources(self) -> Json:
        return {"project_id": self.visible.project, **self._sources()}

    def _sources(self) -> Json:
        live, mounts = self.status is not None, bool(self.mounts)
        return {
            "workspace_status": "control_plane" if live else "policy",
            "project_fs": "workspace_mounts" if mounts else "policy_links",
            "project_nodes": "workspace_mounts" if mounts else "policy_nodes",
            "nodes_meta": "workspace_mounts" if live else "policy_nodes",
        }

    def contracts(self) -> Json:
        return {
            "version": CONTRACT,
            "project_id": self.visible.project,
            "project_dirs": ["fs", "nodes", "agents", "meta"],
            "meta_files": [f"{name}.json" for name in FILES],
            "links": {
                "fs": "/nodes/<node_id>/fs/<export_name>",
                "nodes": "/nodes/<node_id>",
                "agents": "/agents/<agent_id>",
            },
        }

    def paths(self) -> Json:
        root = f"/projects/{self.visible.project}"
        return {
            "project_root": root,
            "fs_root": f"{root}/fs",
            "nodes_root": f"{root}/nodes",
            "agents_root": f"{root}/agents",
            "meta_root": f"{root}/meta",
            "global": {
                "nodes": "/nodes",
                "agents": "/agents",
                "meta": "/meta",
                "debug": "/debug" if self.visible.debug else None,
            },
        }

    def summary(self) -> Json:
        policy, health = self.visible.policy, self.health()
        return {
            "project_id": self.visible.project,
            "sources": self._sources(),
            "counts": {
                "policy_nodes": len(policy.nodes),
                "policy_links": len(policy.links),
                "visible_agents": len(self.visible.agents),
                "project_agent_links": len(self.agent_links()),
                "project_node_links": len(self.node_links()),
                "project_mount_links": len(self.fs_links()),
            },
            "health": {name: health[name] for name in ("state", "reconcile_state", "queue_depth")},
        }

    def alerts(self) -> list[Json]:
        health = self.health()
        availability = as_object(health["availability"])
        counts = (
            ("missing_mounts", "error", as_int(availability.get("missing")), "missing mounts detected"),
            ("degraded_mounts", "warning", as_int(availability.get("degraded")), "degraded mounts detected"),
            ("workspace_drift", "warning", as_int(health["drift_count"]), "workspace drift detected"),
        )
        found: list[Json] = [
            {"id": id, "severity": severity, "count": count, "message": message}
            for id, severity, count, message in counts
            if count > 0
        ]
        if health["reconcile_state"] == "degraded":
            found.append({"id": "reconcile_degraded", "severity": "warning", "message": "reconcile state degraded"})
        if as_int(health["queue_depth"]) > 0:
            found.append(
                {
                    "id": "reconcile_queue",
                    "severity": "info",
                    "count": health["queue_depth"],
                    "message": "reconcile queue pending",
                }
            )
        return found

    def workspace_status(self) -> Mapping[str, object]:
        if self.status is not None:
            return self.status
        return {"agent_id": self.visible.policy.agent, "project_id": self.visible.project, **_UNKNOWN_STATUS}

    def part(self, name: str) -> object:
        return self.workspace_status()[name]

    def reconcile(self) -> Json:
        names = ("reconcile_state", "last_reconcile_ms", "last_success_ms", "last_error", "queue_depth")
        status = self.workspace_status()
        return {name: status[name] for name in names}

    def health(self) -> Json:
        status = self.workspace_status()
        availability, drift = as_object(status["availability"]), as_int(as_object(status["drift"])["count"])
        reconcile, queue = status["reconcile_state"], as_int(status["queue_depth"])
        if as_int(availability["missing"]) > 0:
            state = "missing"
        elif as_int(availability["degraded"]) > 0 or drift > 0 or queue > 0 or reconcile == "degraded":
            state = "degraded"
        else:
            state = "unknown" if reconcile == "unknown" else "healthy"
        return {
            "state": state,
            "availability": availability,
            "drift_count": drift,
            "reconcile_state": reconcile,
            "queue_depth": queue,
        }


def project_view(visible: VisibleState) -> ProjectView:
    return ProjectView(visible, visible.workspace_status())


def _part(name: str) -> Callable[[ProjectView], object]:
    return lambda view: view.part(name)


_PARTS: Final = frozenset({"mounts", "desired_mounts", "actual_mounts", "drift", "availability"})
FILES: Final[dict[str, Callable[[ProjectView], object]]] = {
    name: _part(name) if name in _PARTS else getattr(ProjectView, name)
    for name in (
        "topology",
        "nodes",
        "agents",
        "sources",
        "contracts",
        "paths",
        "summary",
        "alerts",
        "workspace_status",
        "mounts",
        "desired_mounts",
        "actual_mounts",
        "drift",
        "reconcile",
        "availability",
        "health",
    )
}


def link_name(mount_path: str) -> str:
    """`/docs/api` → `mount::docs::api`, `/` → `mount::root` (004)."""
    parts = [part for part in mount_path.split("/") if part]
    return "mount::" + ("::".join(parts) or "root")

"""What one binding sees: policy, nodes, services, agents and project, as they are at one version of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from worldfs.tree.binding import Binding

from . import visibility
from .json_text import compact_json
from .local_nodes import SERVICE, LocalNode
from .namespace_ports import Json, PlaneReader
from .views.node_view import NodeView
from .views.visible_services import VisibleService, catalog_services, policy_services
from .visibility_policy import PolicyCache, PolicyNode, VisibilityPolicy

if TYPE_CHECKING:
    from .path_resolver import ResolvedPath

# By node: what a view was computed from, and the view. One dictionary a seat, so that a change costs what it changed.
Views = dict[str, tuple[tuple[object, ...], tuple[bool, ...], NodeView]]


class VisibleStateSources(NamedTuple):
    """Where a sight is computed from. `home`: the project of the home's own workspace, "" without one."""

    plane: PlaneReader
    policies: PolicyCache
    agents: Callable[[], list[str]]
    bodies: Callable[[], Mapping[str, LocalNode]]  # of the home's own workspace
    online: Callable[[], bool]  # does anybody carry out what is asked of them?
    stamp: Callable[[], object]  # changes when bodies may have changed
    gathering: Callable[[], object]  # changes when there may be other agents
    home: str
    glance: Callable[[], Mapping[str, Any]] = dict  # the home's workspace at a glance


class VisibleState:
    """Made anew when policy or `version` changed; its parts are computed when they are first asked for."""

    def __init__(
        self,
        binding: Binding,
        sources: VisibleStateSources,
        policy: VisibilityPolicy,
        version: object,
        before: Views | None = None,
    ) -> None:
        self.binding = binding
        self.sources = sources
        self.policy = policy
        self.version = version
        self.project = policy.project
        self.debug = visibility.is_debug_visible(binding, policy)
        self.places: dict[str, ResolvedPath] = {}  # what the namespace has found, by path, while it stays as it is
        self._views: dict[str, NodeView] = {}
        self._before = before if before is not None else {}

    # -- the project --------------------------------------------------------------------------------------------------

    @property
    def bound(self) -> Binding:
        """The binding with the project that it sees."""
        return self.binding if self.binding.project else self.binding._replace(project=self.project)

    def live(self) -> Json | None:
        """The workspace status, now; None where the control plane has none for this project or may not say."""
        status = self.sources.plane.status(self.bound)
        return status if status is not None and status.get("project_id") == self.project else None

    @cached_property
    def open(self) -> bool:
        """May it read its project? If not (a policy, a revoked token) only what policy says of the project is left."""
        return self.sources.plane.allows(self.bound, "read")

    @cached_property
    def members(self) -> frozenset[str]:
        """Nodes that the project's mounts name, and its other members."""
        return frozenset(self.sources.plane.members(self.project)) if self.open else frozenset()

    @cached_property
    def exporting(self) -> frozenset[str]:
        """Nodes that the project's mounts lead to."""
        project = self.sources.plane.project(self.project) or {}
        return frozenset(str(mount["node_id"]) for mount in project.get("mounts", ())) & self.members

    def exports(self, view: NodeView) -> frozenset[str] | None:
        """Which exports of a node are there: all (None) for who sees its `fs` service, else those that are mounted."""
        if self.binding.admin or any(service.kind == "fs" for service in view.services):
            return None
        project = self.sources.plane.project(self.project) or {}
        return frozenset(str(m["export_name"]) for m in project.get("mounts", ()) if m["node_id"] == view.id)

    @cached_property
    def beside(self) -> VisibleState | None:
        """The same binding's sight of the home's own project, where it sees that beside its own."""
        sources = self.sources
        if not self.home or self.project == sources.home:
            return None
        binding = self.binding._replace(project=sources.home, token="")
        return VisibleState(binding, sources, sources.policies.of(binding), self.version)

    def of(self, project: str) -> VisibleState | None:
        """The sight of a project by its name; None for one that is not there for this binding."""
        if project == self.project:
            return self
        return self.beside if project == self.sources.home else None

    @cached_property
    def home(self) -> bool:
        """Is the home's own workspace among what it sees?"""
        sources = self.sources
        return (
            bool(sources.home)
            and self.open
            and visibility.is_workspace_visible(self.binding, self.project, sources.home)
        )

    # -- nodes --------------------------------------------------------------------------------------------------------

    @cached_property
    def bodies(self) -> Mapping[str, LocalNode]:
        """The bodies of the home's own workspace that it sees. The `local` of a missing manifest stands for none."""
        if not self.sources.home or not self.open:
            return {}
        bodies = self.sources.bodies()
        if self.home or self.binding.admin:
            return bodies
        named = self.members | (self._policy_nodes.keys() if self.policy.named_nodes else set())
        return {id: body for id, body in bodies.items() if id in named}

    @cached_property
    def nodes(self) -> list[str]:
        registered = self.sources.plane.node_ids()
        return visibility.visible_nodes(self.binding, self.policy, self.members, registered, self.bodies)

    @cached_property
    def node_set(self) -> frozenset[str]:
        return frozenset(self.nodes)

    @cached_property
    def _policy_nodes(self) -> dict[str, PolicyNode]:
        return {node.id: node for node in self.policy.nodes}

    @cached_property
    def _may_invoke(self) -> bool:
        return self.sources.plane.allows(self.bound, "invoke")

    @cached_property
    def _token(self) -> bool:
        return self.sources.plane.holds_token(self.bound)

    def node(self, id: str) -> NodeView | None:
        """None for what is not there or may not be seen."""
        if id not in self.node_set:
            return None
        view = self._views.get(id)
        if view is None:
            view = self._views[id] = self._look(id)
        return view

    @cached_property
    def _registered(self) -> frozenset[str]:
        return frozenset(self.sources.plane.node_ids())

    def _look(self, id: str) -> NodeView:
        """As an earlier sight of this seat had it, if nothing changed from which it was computed."""
        registered = id in self._registered
        catalog = self.sources.plane.catalog(id) if registered else None
        known = self._before.get(id)
        said = (catalog, self.bodies.get(id), self._policy_nodes.get(id))
        flags = (registered, id in self.exporting, self._may_invoke, self._token)
        if known is not None and known[1] == flags and all(a is b for a, b in zip(known[0], said, strict=True)):
            return known[2]
        view = self._made(id, registered, catalog)
        self._before[id] = said, flags, view
        return view

    def _made(self, id: str, registered: bool, catalog: Sequence[Json] | None) -> NodeView:
        exports = id in self.exporting and catalog != []
        body = self.bodies.get(id)
        policy = self._policy_nodes.get(id)
        if catalog is not None:
            services = catalog_services(id, catalog)
        elif body is not None:
            services = catalog_services(id, body.services)
        elif policy is not None:
            services = policy_services(policy)
        else:
            services = policy_services(PolicyNode(id, ("fs",), ())) if not registered else []
        if registered:
            source = "control_plane"
        elif body is not None:
            source = "workspace"
        else:
            source = "policy" if policy is not None else "workspace_discovery"
        return NodeView(id, source, [service for service in services if self.seen(service)], exports=exports)

    def seen(self, service: VisibleService) -> bool:
        permissions = service.raw.get("permissions", {})
        return visibility.is_service_visible(permissions, self.binding, invoke=self._may_invoke, token=self._token)

    def commands(self, node: str) -> bool:
        """May it order a body about, by whatever file: does it see the body's service? Without a node: any."""
        if self.binding.admin or not node:
            return self.own_invokes
        view = self.node(node)
        return view is not None and SERVICE in view.by_id

    @property
    def own_invokes(self) -> bool:
        """May it use the services that every agent has? (acheron D26)"""
        return self.binding.admin or self._may_invoke

    def node_status(self, view: NodeView) -> Json:
        """STATUS.json of a node (reference 4.2)."""
        plane = self.sources.plane
        record = plane.node(view.id)
        if record is not None:
            state = plane.online(view.id)
            return {
                "node_id": view.id,
                "node_name": record["node_name"],
                "state": state,
                "online": state == "online",
                "lease_expires_at_ms": record["lease_expires_at_ms"],
                "last_seen_ms": record["last_seen_ms"],
                "joined_at_ms": record["joined_at_ms"],
                "fs_url": record["fs_url"],
                "source": "control_plane",
            }
        state, online = {"policy": ("configured", True), "workspace_discovery": ("unknown", False)}.get(
            view.source, ("", False)
        )
        if view.source == "workspace":
            online = self.sources.online()
            state = "online" if online else "missing"
        return {"node_id": view.id, "state": state, "online": online, "source": view.source}

    # -- agents -------------------------------------------------------------------------------------------------------

    @cached_property
    def agents(self) -> list[str]:
        return visibility.visible_agents(self.binding, self.policy, self.sources.agents())

    # -- the agent's index --------------------------------------------------------------------------------------------

    @cached_property
    def services_index(self) -> bytes:
        """SERVICES.json of the agent: encoded once a version (reference 4.3)."""
        lines = [view.index for id in self.nodes if (view := self.node(id)) is not None and view.services]
        if self.own_invokes:
            lines.append(compact_json(own_services())[1:-1])
        return b"[" + b",".join(lines) + b"]"


def own_services() -> Sequence[dict[str, Any]]:
    """The lines of the services that every agent has: at their own places, then as contracts."""
    return [
        {
            "node_id": "self",
            "service_id": name,
            "service_path": f"/agents/self/{base}{name}",
            "invoke_path": f"/agents/self/{base}{name}/control/invoke.json",
            "has_invoke": True,
            "scope": scope,
        }
        for base, scope in (("", "agent_namespace"), ("services/contracts/", "agent_contract"))
        for name in ("memory", "web_search")
    ]

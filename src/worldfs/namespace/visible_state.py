"""What one binding sees of nodes and projects, at one version of their sources; its rights say what that is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from worldfs.access.binding import Binding
from worldfs.access.binding_rights import BindingRights
from worldfs.access.judge import judge
from worldfs.access.things import ProjectName, Realm, ServicePermissions
from worldfs.access.verb import Verb
from worldfs.access.visibility_policy import PolicyCache, PolicyNode, VisibilityPolicy
from worldfs.base.clock import Clock
from worldfs.base.json_text import compact_json
from worldfs.tree.change_feed import ChangeFeed

from .namespace_ports import Json, LocalNode, PlaneReader, ServiceEndpoint
from .views.node_view import NodeView
from .views.visible_services import VisibleService, catalog_services, policy_services

if TYPE_CHECKING:
    from .node import ResolvedPath

# By node: the sources of a view, and the view. One dictionary for each binding, so that only changed nodes cost work.
Views = dict[str, tuple[tuple[object, object, object], tuple[bool, ...], NodeView]]


class VisibleStateSources(NamedTuple):
    """The sources of a `VisibleState`. `home`: the project of the home's own workspace, "" without one."""

    plane: PlaneReader
    feed: ChangeFeed
    clock: Clock
    policies: PolicyCache
    agents: Callable[[], list[str]]
    bodies: Callable[[], Mapping[str, LocalNode]]  # of the home's own workspace
    online: Callable[[], bool]  # whether a kernel runs their orders
    stamp: Callable[[], object]  # changes when the home's nodes may have changed
    gathering: Callable[[], object]  # changes when there may be other agents
    home: str
    own_services: Mapping[str, ServiceEndpoint]  # of every agent: by the `place` that a row gives
    reserved: frozenset[str]  # names below a node that the table declares
    status: Callable[[], Mapping[str, object]] = dict  # the status report of the home's workspace


class VisibleState(BindingRights):
    """Replaced when policy or `version` changed; its parts are computed on first use."""

    def __init__(
        self,
        binding: Binding,
        sources: VisibleStateSources,
        policy: VisibilityPolicy,
        version: object,
        before: Views | None = None,
    ) -> None:
        super().__init__(binding, sources, policy)
        self.sources = sources
        self.version = version
        self.places: dict[str, ResolvedPath] = {}  # resolved paths of the namespace
        self._views: dict[str, NodeView] = {}
        self._before = before if before is not None else {}

    # -- the project --------------------------------------------------------------------------------------------------

    def workspace_status(self) -> Json | None:
        """The present workspace status; None where the control plane has none, or the binding may not read it."""
        status = self.sources.plane.status(self.project_binding)
        return status if status is not None and status.get("project_id") == self.project else None

    @cached_property
    def home_state(self) -> VisibleState | None:
        """The same binding's state of the home's own project, where it sees that in addition to its own."""
        sources = self.sources
        if not judge(self, Verb.SEE, ProjectName(sources.home)) or self.project == sources.home:
            return None
        binding = self.binding._replace(project=sources.home, token="")
        return VisibleState(binding, sources, sources.policies.policy(binding), self.version)

    def project_state(self, project: str) -> VisibleState | None:
        """The state of a project by its name; None for one that this binding does not see."""
        if project == self.project:
            return self
        return self.home_state if project == self.sources.home else None

    # -- nodes --------------------------------------------------------------------------------------------------------

    @cached_property
    def bodies(self) -> Mapping[str, LocalNode]:
        """The visible nodes of the home's own workspace."""
        ids = self.body_ids
        return {id: body for id, body in self.sources.bodies().items() if id in ids} if ids else {}

    def node(self, id: str) -> NodeView | None:
        """None for a node that does not exist or is not visible."""
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
        """The view of the binding's earlier state, if its sources are unchanged, else a new one."""
        registered = id in self._registered
        catalog = self.sources.plane.catalog(id) if registered else None
        body, policy = self.bodies.get(id), self.policy_nodes.get(id)
        flags = (registered, id in self.exporting, *self.flags)
        known = self._before.get(id)
        if known is not None:  # asked for each node of an index
            (was_catalog, was_body, was_policy), was_flags, view = known
            if was_catalog is catalog and was_body is body and was_policy is policy and was_flags == flags:
                return view
        view = self._made(id, registered, catalog)
        self._before[id] = (catalog, body, policy), flags, view
        return view

    def _made(self, id: str, registered: bool, catalog: Sequence[Json] | None) -> NodeView:
        exports = id in self.exporting and catalog != []
        body = self.bodies.get(id)
        policy = self.policy_nodes.get(id)
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
        seen = [service for service in services if self._sees(service)]
        return NodeView(id, source, seen, exports=exports, reserved=self.sources.reserved)

    def _sees(self, service: VisibleService) -> bool:
        return bool(judge(self, Verb.SEE, ServicePermissions(service.raw.get("permissions", {}))))

    def offers(self, node: str, service: str) -> bool:
        view = self.node(node)
        return view is not None and service in view.by_id

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

    # -- the agent's index --------------------------------------------------------------------------------------------

    @cached_property
    def services_index(self) -> bytes:
        """SERVICES.json of the agent: encoded once a version (reference 4.3)."""
        lines = [view.index for id in self.nodes if (view := self.node(id)) is not None and view.services]
        if judge(self, Verb.COMMAND, Realm.OWN_SERVICES):
            lines.append(compact_json(own_services())[1:-1])
        return b"[" + b",".join(lines) + b"]"


def own_services() -> Sequence[dict[str, object]]:
    """The entries of the services that every agent has: at their own paths, then as contracts."""
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

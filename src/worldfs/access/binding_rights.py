"""The rights of one binding at one version of their sources: what exists for it, and what it may do. Computed once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Final, Protocol

from worldfs.base.json_values import as_objects
from worldfs.tree.row_table import COMMAND

from . import file_roles, visibility
from .binding import Binding
from .decision import ALLOWED, HIDDEN, NO_COMMAND, Decision
from .things import (
    AgentName,
    ExportName,
    NodeName,
    ProjectName,
    Realm,
    RobotName,
    ServedFile,
    ServicePermissions,
)
from .verb import Verb
from .visibility_policy import PolicyNode, VisibilityPolicy

Json = dict[str, object]
ROBOT: Final = "body"  # the service of a robot of this home: a binding that sees it may command the robot


class ProjectQueries(Protocol):
    """What the control plane knows of projects and nodes. All of it from memory."""

    def node_ids(self) -> Sequence[str]: ...
    def project(self, project_id: str) -> Json | None: ...
    def members(self, project_id: str) -> Sequence[str]: ...
    def allows(self, binding: Binding, action: str) -> bool: ...
    def holds_token(self, binding: Binding) -> bool: ...


class RightsSources(Protocol):
    """The sources of a binding's rights. `home`: the project of the home's own workspace, "" without one."""

    @property
    def plane(self) -> ProjectQueries: ...
    @property
    def agents(self) -> Callable[[], list[str]]: ...
    @property
    def bodies(self) -> Callable[[], Mapping[str, object]]: ...
    @property
    def home(self) -> str: ...


class BindingRights:
    """A subclass says what a node offers (`offers`); everything that is judged stands here."""

    def __init__(self, binding: Binding, sources: RightsSources, policy: VisibilityPolicy) -> None:
        self.binding = binding
        self._facts = sources
        self.policy = policy
        self.project = policy.project
        self.debug = visibility.is_debug_visible(binding, policy)

    def offers(self, node: str, service: str) -> bool:
        """Whether a visible node has a visible service of this id."""
        raise NotImplementedError

    def decide(self, verb: Verb, thing: object) -> Decision:
        match thing:
            case ServedFile():
                return self._decide_file(verb, thing)
            case NodeName(id):
                return _seen(id in self.node_set)
            case RobotName(id):  # a binding that sees a robot may stop it
                if verb is Verb.COMMAND:
                    return ALLOWED if self._may_command(id) else NO_COMMAND
                return _seen(id in self.body_ids)
            case ServicePermissions(value):
                return _seen(
                    visibility.is_service_visible(value, self.binding, invoke=self._invokes, token=self._token)
                )
            case AgentName(id):
                return _seen(id == self.binding.agent or id in self.agents)
            case ProjectName(id):
                return _seen(id == self.project or (id == self._facts.home and self.home))
            case ExportName():
                return _seen(thing.whole or self.binding.admin or (thing.node, thing.export) in self._mounted)
            case Realm.DEBUG:
                return _seen(self.debug)
            case Realm.WORKSPACE:
                return _seen(self.home)
            case Realm.STATUS:
                return _seen(bool(self._facts.home) and (self.home or self.binding.admin))
            case Realm.OWN_SERVICES:
                return ALLOWED if self._own_invokes else NO_COMMAND
        raise TypeError(f"no rule for {thing!r}")

    def _decide_file(self, verb: Verb, file: ServedFile) -> Decision:
        decision = file_roles.decide(file.role, verb, file.row)
        if not decision or verb is not Verb.WRITE or not file.row.needs:
            return decision
        node = file.names.get("node", "")
        allowed = self._may_command(node) if file.row.needs == COMMAND else self._own_invokes
        return ALLOWED if allowed else NO_COMMAND

    # -- the project --------------------------------------------------------------------------------------------------

    @property
    def project_binding(self) -> Binding:
        """The binding with the project that it sees."""
        return self.binding if self.binding.project else self.binding._replace(project=self.project)

    @cached_property
    def may_read_project(self) -> bool:
        """Whether it may read its project; if not (a policy, a revoked token) it sees the project by policy only."""
        return self._facts.plane.allows(self.project_binding, "read")

    @cached_property
    def members(self) -> frozenset[str]:
        """Nodes that the project's mounts name, and its other members."""
        return frozenset(self._facts.plane.members(self.project)) if self.may_read_project else frozenset()

    @cached_property
    def exporting(self) -> frozenset[str]:
        """Nodes that the project's mounts lead to."""
        return frozenset(node for node, _ in self._mounted) & self.members

    @cached_property
    def _mounted(self) -> frozenset[tuple[str, str]]:
        """Node and export of the project's mounts."""
        project = self._facts.plane.project(self.project) or {}
        mounts = as_objects(project.get("mounts"))
        return frozenset((str(mount["node_id"]), str(mount["export_name"])) for mount in mounts)

    @cached_property
    def home(self) -> bool:
        """Whether it sees the home's own workspace."""
        home = self._facts.home
        seen = visibility.is_workspace_visible(self.binding, self.project, home)
        return bool(home) and self.may_read_project and seen

    # -- nodes and agents ---------------------------------------------------------------------------------------------

    @cached_property
    def body_ids(self) -> frozenset[str]:
        """The visible nodes of the home's own workspace. The `local` of a missing manifest is none of them."""
        if not self._facts.home or not self.may_read_project:
            return frozenset()
        bodies = frozenset(self._facts.bodies())
        if self.home or self.binding.admin:
            return bodies
        return bodies & (self.members | (self.policy_nodes.keys() if self.policy.named_nodes else set()))

    @cached_property
    def policy_nodes(self) -> dict[str, PolicyNode]:
        return {node.id: node for node in self.policy.nodes}

    @cached_property
    def nodes(self) -> list[str]:
        registered = self._facts.plane.node_ids()
        return visibility.visible_nodes(self.binding, self.policy, self.members, registered, self.body_ids)

    @cached_property
    def node_set(self) -> frozenset[str]:
        return frozenset(self.nodes)

    @cached_property
    def agents(self) -> list[str]:
        return visibility.visible_agents(self.binding, self.policy, self._facts.agents())

    # -- services -----------------------------------------------------------------------------------------------------

    @property
    def flags(self) -> tuple[bool, bool]:
        """Which services it sees changes only with these, and with what their nodes say."""
        return self._invokes, self._token

    @cached_property
    def _invokes(self) -> bool:
        return self._facts.plane.allows(self.project_binding, "invoke")

    @cached_property
    def _token(self) -> bool:
        return self._facts.plane.holds_token(self.project_binding)

    @property
    def _own_invokes(self) -> bool:
        """Whether it may use the services that every agent has (acheron D26)."""
        return self.binding.admin or self._invokes

    def _may_command(self, node: str) -> bool:
        """Through any file: it must see the node's service. Without a node: any node."""
        return self._own_invokes if self.binding.admin or not node else self.offers(node, ROBOT)


def _seen(visible: bool) -> Decision:
    return ALLOWED if visible else HIDDEN

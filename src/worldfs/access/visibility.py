"""Visibility: which nodes, services and agents a binding sees.

Hidden things do not exist: no directory, no line of an index, no count in a summary (5.1, acheron D7, D23, D36, D47).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .binding import Binding
from .visibility_policy import VisibilityPolicy

Json = Mapping[str, object]
_OPEN = frozenset({"user", "*", "all"})
_CLOSED = frozenset({"deny", "deny-by-default"})


def is_service_visible(permissions: object, binding: Binding, *, invoke: bool, token: bool) -> bool:
    """Whether a binding sees a service of a node.

    `invoke`: the project's access policy lets it invoke. `token`: it gave a project token that is valid now.
    """
    if binding.admin:
        return True
    if not invoke or not isinstance(permissions, Mapping):
        return False
    needs = permissions.get("require_project_token")
    if not isinstance(needs, bool):
        needs = permissions.get("project_token_required") is True
    if needs and not token:
        return False
    roles = permissions.get("allow_roles")
    if isinstance(roles, list | tuple):
        return any(isinstance(name, str) and name in _OPEN for name in roles)
    return permissions.get("default") not in _CLOSED


def visible_nodes(
    binding: Binding, policy: VisibilityPolicy, members: Iterable[str], registered: Iterable[str], bodies: Iterable[str]
) -> list[str]:
    """Sorted ids: an admin sees every node there is, a user those of the bound project.

    `members`: of the project. `registered`: known to the control plane. `bodies`: of the home's own workspace, where
    this binding sees that.
    """
    seen = {node.id for node in policy.nodes} | set(members) | set(bodies)
    if binding.admin:
        seen.update(registered)
    return sorted(seen)


def visible_agents(binding: Binding, policy: VisibilityPolicy, agents: Iterable[str]) -> list[str]:
    """In the order of policy; the operator sees all agents unless a manifest names some."""
    if binding.primary and not policy.named_agents:
        return list(dict.fromkeys((*policy.visible_agents, *agents)))
    return list(policy.visible_agents)


def is_debug_visible(binding: Binding, policy: VisibilityPolicy) -> bool:
    """Both the role and the manifest must permit it (acheron D45)."""
    return binding.admin and policy.show_debug


def is_workspace_visible(binding: Binding, project: str, home: str) -> bool:
    """The home's own workspace: visible to bindings of its project, and to the operator."""
    return project == home or binding.primary

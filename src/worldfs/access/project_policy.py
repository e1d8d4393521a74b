"""The access policy of a project: which actions each agent may take, and which need the project token.

Source: acheron §3.3 ("access_policy"); acheron D7 (a token is checked at every use),
acheron D36 (an admin passes always), acheron D48 (system is the primary agent's).
"""

from __future__ import annotations

from typing import Final

from .binding import NODE, Binding
from .credentials import holds_project_token, secrets_equal
from .decision import ALLOWED, Decision
from .things import ADMINS, DENY, OPEN, TOKEN, ExportTarget, ProjectRequest, ProjectRules, ProjectScope
from .verb import Verb

_CHANGES: Final = (Verb.MOUNT, Verb.ADMIN)
NO_PROJECT: Final = Decision(False, "project_not_found")
NOT_ASSIGNED: Final = Decision(False, "project_assignment_forbidden")
FORBIDDEN: Final = Decision(False, "project_policy_forbidden")
NO_TOKEN: Final = Decision(False, "missing_field")
BAD_TOKEN: Final = Decision(False, "invalid_payload")
WRONG_TOKEN: Final = Decision(False, "project_auth_failed")


def decide(binding: Binding, verb: Verb, scope: ProjectScope) -> Decision:
    """By what the binding itself holds. Only an admin may access an unknown project, or `system`.

    `SEE`: with any token; a project that needs one is visible.
    """
    project = scope.project
    if project is not None and project.system and scope.own and not binding.primary:
        return NOT_ASSIGNED
    if binding.admin:
        return ALLOWED
    if project is None or project.system or binding.role == NODE:
        return NO_PROJECT
    if verb is Verb.SEE:
        return NO_PROJECT if _mode(project, binding.agent, Verb.READ) in (ADMINS, DENY) else ALLOWED
    mode = _mode(project, binding.agent, verb)
    if mode == OPEN or (mode == TOKEN and holds_project_token(project, binding)):
        return ALLOWED
    return FORBIDDEN


def decide_request(binding: Binding, verb: Verb, request: ProjectRequest) -> Decision:
    """By what the request brings along. `SEE`: the project is there for the caller, whatever its policy says."""
    project = request.project
    if project is None:
        return NO_PROJECT
    if project.system and not binding.primary:
        if request.own:
            return NOT_ASSIGNED
        if not binding.admin:
            return NO_PROJECT
        if verb is Verb.MOUNT:
            return NOT_ASSIGNED
    if verb is Verb.SEE or binding.admin:
        return ALLOWED
    if _mode(project, binding.agent, Verb.READ) in (ADMINS, DENY):
        return NO_PROJECT
    mode = _mode(project, binding.agent, verb)
    if mode == OPEN:
        return ALLOWED
    return _decide_token(binding, project, request) if mode == TOKEN else FORBIDDEN


def _decide_token(binding: Binding, project: ProjectRules, request: ProjectRequest) -> Decision:
    given = request.given
    if given is None:
        return ALLOWED if request.bound and holds_project_token(project, binding) else NO_TOKEN
    if not isinstance(given, str):
        return BAD_TOKEN
    return ALLOWED if secrets_equal(given, project.token) else WRONG_TOKEN


def decide_mount(binding: Binding, target: ExportTarget) -> Decision:
    """For a user an export is there only through a project that it may read, which mounts it or has its node as a
    member. Its own mount would else give access to every node's files."""

    def shows(project: ProjectRules) -> bool:
        known = any((mount.node_id, mount.export_name) == (target.node, target.export) for mount in project.mounts)
        return (known or target.node in project.nodes) and bool(decide(binding, Verb.READ, ProjectScope(project)))

    seen = binding.admin or any(shows(project) for project in target.projects)
    return ALLOWED if seen else Decision(False, "node_not_found")


def _mode(project: ProjectRules, agent: str, verb: Verb) -> str:
    """open | token | admin | deny. Only the operator may change a project that the realm created, unless the policy
    opens it."""
    own = project.agents.get(agent, {}).get(verb) or project.actions.get(verb)
    if own is None and project.protected and verb in _CHANGES:
        return ADMINS
    return own or (TOKEN if project.locked else OPEN)

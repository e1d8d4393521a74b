"""The access policy of a project: which actions each agent may take, and which need the project token.

Source: acheron §3.3 ("access_policy"); acheron D7 (a token is checked at every use),
acheron D36 (an admin passes always), acheron D48 (system is the primary agent's).
"""

from __future__ import annotations

from typing import Final

from worldfs.access.binding import NODE, Binding
from worldfs.formats.wire.frames import Json

from .payload_fields import AGENT_MAX, invalid, is_id, secrets_equal
from .plane_error import PlaneError
from .plane_records import Project

OPEN, TOKEN, ADMIN, DENY = "open", "token", "admin", "deny"
ACTIONS: Final = ("read", "observe", "invoke", "mount", "admin")
AGENTS_MAX: Final = 256
_CHANGES: Final = ("mount", "admin")
_ACTION: Final = {**{action: action for action in ACTIONS}, "watch": "observe"}
_MODE: Final = {
    "open": OPEN, "allow": OPEN,
    "token": TOKEN, "token-required": TOKEN, "token_required": TOKEN, "token_or_admin": TOKEN,
    "admin": ADMIN, "admin-only": ADMIN, "admin_only": ADMIN,
    "deny": DENY, "disabled": DENY,
}  # fmt: skip


def read_policy(value: object) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """`access_policy` of a payload: actions, and overrides by agent. Raises `PlaneError` (invalid_payload)."""
    if not isinstance(value, dict):
        raise invalid()
    agents = value.get("agents", {})
    if not isinstance(agents, dict) or len(agents) > AGENTS_MAX:
        raise invalid()
    if not all(is_id(agent, AGENT_MAX) for agent in agents):
        raise invalid()
    return _modes(value.get("actions", {})), {agent: _modes(agents[agent]) for agent in sorted(agents)}


def _modes(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise invalid()
    given: dict[str, str] = {}
    for action, mode in value.items():
        if action not in _ACTION or not isinstance(mode, str) or mode not in _MODE:
            raise invalid()
        given[_ACTION[action]] = _MODE[mode]
    return {action: given[action] for action in ACTIONS if action in given}


def mode_of(project: Project, agent: str, action: str) -> str:
    """open | token | admin | deny. Only the operator may change a project that the realm created, unless the policy
    opens it."""
    own = project.agents.get(agent, {}).get(action) or project.actions.get(action)
    if own is None and project.protected and action in _CHANGES:
        return ADMIN
    return own or (TOKEN if project.locked else OPEN)


def hidden(project: Project, caller: Binding) -> bool:
    """Whether a project is not there for a caller, with any token. One that needs a token is visible."""
    return not caller.admin and mode_of(project, caller.agent, "read") in (ADMIN, DENY)


def allows(project: Project | None, binding: Binding, action: str) -> bool:
    """Default deny: only an admin may access an unknown project, or `system`."""
    if binding.admin:
        return True
    if project is None or project.system or binding.role == NODE:
        return False
    mode = mode_of(project, binding.agent, action)
    return mode == OPEN or (mode == TOKEN and holds_project_token(project, binding))


def holds_project_token(project: Project, binding: Binding) -> bool:
    """Whether the binding holds the project's present token."""
    return binding.project == project.project_id and secrets_equal(binding.token, project.token)


def require_access(project: Project, caller: Binding, action: str, payload: Json, *, bound: bool) -> None:
    """Raises `PlaneError` unless the policy allows it. `bound`: the token of the caller's binding counts too."""
    if caller.admin:
        return
    if hidden(project, caller):
        raise PlaneError("project_not_found")
    mode = mode_of(project, caller.agent, action)
    if mode == OPEN:
        return
    if mode != TOKEN:
        raise PlaneError("project_policy_forbidden")
    given = payload.get("project_token")
    if given is None:
        if bound and holds_project_token(project, caller):
            return
        raise PlaneError("missing_field")
    if not isinstance(given, str):
        raise invalid()
    if not secrets_equal(given, project.token):
        raise PlaneError("project_auth_failed")

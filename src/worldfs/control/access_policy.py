"""`access_policy` of a payload: its actions and modes, in all their spellings (acheron §3.3). Judged in access/."""

from __future__ import annotations

from typing import Final

from worldfs.access.things import ADMINS, DENY, OPEN, TOKEN

from .payload_fields import AGENT_MAX, invalid, is_id

ACTIONS: Final = ("read", "observe", "invoke", "mount", "admin")
AGENTS_MAX: Final = 256
_ACTION: Final = {**{action: action for action in ACTIONS}, "watch": "observe"}
_MODE: Final = {
    "open": OPEN, "allow": OPEN,
    "token": TOKEN, "token-required": TOKEN, "token_required": TOKEN, "token_or_admin": TOKEN,
    "admin": ADMINS, "admin-only": ADMINS, "admin_only": ADMINS,
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

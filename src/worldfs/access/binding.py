"""The identity of a connection: role, agent and project, from which rights and views are computed."""

from __future__ import annotations

from typing import Final, NamedTuple

from .roles import AGENT, OPERATOR, PLANNER

ADMIN = "admin"
USER = "user"
NODE = "node"
MOTHER = "mother"  # the primary agent
SYSTEM = "system"  # the primary agent's project


class Binding(NamedTuple):
    """A connection bound to an (agent, project). `token`: the project token that was given, checked at every use."""

    role: str  # ADMIN | USER | NODE
    agent: str
    project: str = ""
    token: str = ""

    @property
    def admin(self) -> bool:
        return self.role == ADMIN

    def role_at(self, parts: tuple[str, ...]) -> str:
        """The file role of the binding for a path in the layout table; "" sees nothing."""
        base = {ADMIN: OPERATOR, USER: PLANNER}.get(self.role, "")
        return AGENT if base and parts[:2] == ("agents", "self") else base

    @property
    def primary(self) -> bool:
        """Whether it may see secrets of mounts: both the agent and the role decide (acheron D37)."""
        return self.admin and self.agent == MOTHER


OWNER: Final = Binding(ADMIN, MOTHER, SYSTEM)  # the server itself, and the operator of the home
NOBODY: Final = Binding(USER, "")  # what every user may see

"""The identity of a connection: role, agent and project, from which rights and views are computed."""

from __future__ import annotations

from typing import Final, NamedTuple

from .roles import AGENT, OPERATOR, PLANNER, ROLES
from .standing import actor_name

ADMIN = "admin"
USER = "user"
NODE = "node"
MOTHER = "mother"  # the primary agent
SYSTEM = "system"  # the primary agent's project
HOME_PROJECT = "main"  # of the home's own workspace


class Binding(NamedTuple):
    """A connection bound to an (agent, project). `token`: the project token that was given, checked at every use.

    A role token gives ADMIN, USER or NODE; a home on this disk may also be opened with a file role as it is.
    `person`: whose connection it is (`standing.py`), "" for an agent or a program; `model`: a model acts there.
    """

    role: str  # ADMIN | USER | NODE | a file role
    agent: str
    project: str = ""
    token: str = ""
    person: str = ""
    model: bool = False

    @property
    def admin(self) -> bool:
        return self.role == ADMIN

    def role_at(self, parts: tuple[str, ...]) -> str:
        """The file role of the binding for a path in the layout table; "" sees nothing."""
        base = {ADMIN: OPERATOR, USER: PLANNER}.get(self.role, "")
        if not base:
            return self.role if self.role in ROLES else ""
        return AGENT if parts[:2] == ("agents", "self") else base

    @property
    def actor(self) -> str:
        """The actor's name, as an order and a stop have it: file role, agent and person, as they were authenticated."""
        return actor_name(self.role_at(()) or self.role, self.agent, self.person, model=self.model)

    @property
    def of_model(self) -> Binding:
        """The same rights, of a model or a program that works for its owner: no person acts."""
        return self._replace(model=True)

    @property
    def file_roles(self) -> frozenset[str]:
        """The file roles that it has, here or there."""
        return frozenset({self.role_at(()), self.role_at(("agents", "self"))})

    @property
    def primary(self) -> bool:
        """Whether it may see secrets of mounts: both the agent and the role decide (acheron D37)."""
        return self.admin and self.agent == MOTHER


def binding_of_role(role: str, agent: str, project: str) -> Binding:
    """The binding of a file role in a home on this disk: an operator who names no agent is the home's owner, any other
    role is bound to the home's own `project`."""
    if role == OPERATOR:
        return Binding(ADMIN, agent, project) if agent else OWNER
    return Binding(USER if role == PLANNER else role, agent or MOTHER, project)


OWNER: Final = Binding(ADMIN, MOTHER, SYSTEM, person=OPERATOR)  # the server itself, and the operator of the home
NOBODY: Final = Binding(USER, "")  # what every user may see

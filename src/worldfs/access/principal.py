"""The principal: what a connection is by its token or secret, before it is bound to an agent and a project."""

from __future__ import annotations

from typing import NamedTuple

from .binding import MOTHER, NODE, Binding


class TokenHolder(NamedTuple):
    """The principal of a token. `id`: its name in the file, a role or `token-N`; `agent`: "" for a role token;
    `person`: the person that the token was made for."""

    id: str
    role: str
    agent: str = ""
    person: str = ""


class Principal(NamedTuple):
    """`node`: the node whose secret the client sent, "" for an invite and for people. `agent`: the one that the token
    acts for, "" if for any. `id`: the token's name, where its history is kept. `person`: the token's owner."""

    role: str
    node: str = ""
    agent: str = ""
    id: str = ""
    person: str = ""

    @property
    def holder(self) -> TokenHolder:
        return TokenHolder(self.id or self.role, self.role, self.agent, self.person)

    def bound(self, agent: str, project: str = "", token: str = "") -> Binding:
        """Its binding to an agent and a project. A person who works as another agent acts for that agent."""
        return Binding(self.role, agent, project, token, self.person if agent == MOTHER else "")

    @property
    def unbound(self) -> Binding:
        """What it acts as before it is bound to a project."""
        return self.bound(self.node if self.role == NODE else self.agent)

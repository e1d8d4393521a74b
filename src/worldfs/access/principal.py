"""The principal: what a connection is by its token or secret, before it is bound to an agent and a project."""

from __future__ import annotations

from typing import NamedTuple

from .binding import NODE, Binding


class TokenHolder(NamedTuple):
    """The principal of a token. `id`: its name in the file, a role or `token-N`; `agent`: "" for a role token."""

    id: str
    role: str
    agent: str = ""


class Principal(NamedTuple):
    """`node`: the node whose secret the client sent, "" for an invite and for people. `agent`: the one that the token
    acts for, "" if for any. `id`: the token's name, where its history is kept."""

    role: str
    node: str = ""
    agent: str = ""
    id: str = ""

    @property
    def holder(self) -> TokenHolder:
        return TokenHolder(self.id or self.role, self.role, self.agent)

    @property
    def unbound(self) -> Binding:
        """What it acts as before it is bound to a project."""
        return Binding(self.role, self.node if self.role == NODE else self.agent)

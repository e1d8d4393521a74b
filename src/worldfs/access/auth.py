"""Authentication: the bearer token of a connection to its principal (acheron §1.2, acheron D6)."""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

from .binding import NODE, Binding
from .decision import Decision
from .tokens import TokenHolder, TokenStore

UNKNOWN: Final = Decision(False, "provider_auth_failed", "forbidden")


class NodeSecrets(Protocol):
    """The secrets of nodes and invites; the control plane keeps them."""

    def node_of_secret(self, secret: str) -> str: ...
    def invite_valid(self, token: str) -> bool: ...


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


def bearer_token(header: str) -> str:
    """The token of an Authorization header: `Bearer x`, `bearer x`, or bare."""
    word, _, rest = header.strip().partition(" ")
    return rest.strip() if word.lower() == "bearer" else header.strip()


def authenticate(header: str, tokens: TokenStore, nodes: NodeSecrets) -> Principal | Decision:
    """The principal, or the refusal of an unknown token. Tokens are compared in constant time."""
    token = bearer_token(header)
    if not token or len(token) > 512:
        return UNKNOWN
    holder = tokens.holder(token)
    if holder is not None:
        return Principal(holder.role, "", holder.agent, holder.id)
    node = nodes.node_of_secret(token)
    return Principal(NODE, node) if node or nodes.invite_valid(token) else UNKNOWN

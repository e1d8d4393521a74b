"""Authentication: the bearer token of a connection to its principal (acheron §1.2, acheron D6)."""

from __future__ import annotations

from typing import Final, Protocol

from .binding import NODE
from .decision import Decision
from .principal import Principal
from .tokens import TokenStore

UNKNOWN: Final = Decision(False, "provider_auth_failed", "forbidden")


class NodeSecrets(Protocol):
    """The secrets of nodes and invites; the control plane keeps them."""

    def node_of_secret(self, secret: str) -> str: ...
    def invite_valid(self, token: str) -> bool: ...


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
        return Principal(holder.role, "", holder.agent, holder.id, holder.person)
    node = nodes.node_of_secret(token)
    return Principal(NODE, node) if node or nodes.invite_valid(token) else UNKNOWN

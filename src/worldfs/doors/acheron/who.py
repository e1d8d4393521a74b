"""Who stands at the door: the Bearer of an upgrade, judged (sections 1.2, decision D6)."""

from __future__ import annotations

from typing import NamedTuple

from worldfs.tree.binding import NODE

from .ports import Plane
from .tokens import Holder, Tokens


class Who(NamedTuple):
    """`node`: the node whose secret was shown, "" for an invite and for people. `agent`: the one that the token speaks
    for, "" if for any. `id`: the token's name, where its history is kept."""

    role: str
    node: str = ""
    agent: str = ""
    id: str = ""

    @property
    def holder(self) -> Holder:
        return Holder(self.id or self.role, self.role, self.agent)


def bearer(header: str) -> str:
    """The token of an Authorization header: `Bearer x`, `bearer x`, or bare."""
    word, _, rest = header.strip().partition(" ")
    return rest.strip() if word.lower() == "bearer" else header.strip()


def judge(header: str, tokens: Tokens, plane: Plane) -> Who | None:
    """None: nobody that we know. Tokens are compared in constant time."""
    token = bearer(header)
    if not token or len(token) > 512:
        return None
    holder = tokens.holder(token)
    if holder is not None:
        return Who(holder.role, "", holder.agent, holder.id)
    node = plane.node_of_secret(token)
    return Who(NODE, node) if node or plane.invite_valid(token) else None

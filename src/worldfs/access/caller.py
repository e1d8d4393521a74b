"""The caller of a control operation, and the operator's configuration of calls."""

from __future__ import annotations

from typing import NamedTuple

from .binding import Binding


class Caller(NamedTuple):
    """`correlation`: the request's correlation_id, else its id. `node`: a node with a secret as Bearer (acheron D6)."""

    binding: Binding
    correlation: str = ""
    node: str = ""


class PlaneConfig(NamedTuple):
    """Tokens that mutations of a scope must carry beside the role ("": none needed), and whether users may watch
    services."""

    operator_token: str = ""
    node_scope_token: str = ""
    project_scope_token: str = ""
    users_may_watch: bool = False

    def asked(self, scope: str) -> tuple[str, str]:
        """The payload's key for a scope, and the required token."""
        if scope == "operator":
            return "operator_token", self.operator_token
        if scope == "node":
            return "node_scope_token", self.node_scope_token
        return "project_scope_token", self.project_scope_token if scope else ""

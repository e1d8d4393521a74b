"""The rights on control operations: role, correlation and scope token; and the secrets with which a node speaks.

Source: acheron §3.1 (gates); acheron D6 (the right secret is enough).
"""

from __future__ import annotations

from typing import Final

from worldfs.base.messages import coded

from .binding import NODE
from .caller import Caller
from .credentials import secrets_equal
from .decision import ALLOWED, Decision
from .things import NodeClaim, OperationCall, ServiceEvents
from .verb import Verb

ADMINS_ONLY: Final = Decision(False, "forbidden", coded("access.admins_only"))
UNCORRELATED: Final = Decision(
    False, "correlation_required", coded("access.uncorrelated")
)  # fmt: skip
NO_FIELD: Final = Decision(False, "missing_field")
BAD_FIELD: Final = Decision(False, "invalid_payload")
WRONG_SCOPE_TOKEN: Final = Decision(False, "operator_auth_failed")
WRONG_NODE_SECRET: Final = Decision(False, "node_auth_failed")
NO_NODE: Final = Decision(False, "node_not_found")
NO_WATCH: Final = Decision(False, "forbidden", coded("access.no_watch"))


def decide(caller: Caller, verb: Verb, thing: object) -> Decision:
    match thing:
        case OperationCall():
            return _decide_call(caller, thing)
        case NodeClaim():
            return _decide_node(caller, verb, thing)
        case ServiceEvents(for_users):
            return ALLOWED if caller.binding.admin or for_users else NO_WATCH
    raise TypeError(f"no rule for {thing!r}")


def _decide_call(caller: Caller, call: OperationCall) -> Decision:
    """A row with `own` passes for every role here: its operation then asks for the secret that gives the right."""
    row, admin = call.row, caller.binding.admin
    if (caller.binding.role == NODE and not row.node) or (row.admin and not admin and not row.own):
        return ADMINS_ONLY
    if row.mutation and not caller.correlation:
        return UNCORRELATED
    if (row.own and not admin) or not call.token:
        return ALLOWED
    if call.given is None:
        return NO_FIELD
    right = isinstance(call.given, str) and secrets_equal(call.given, call.token)
    return ALLOWED if right else WRONG_SCOPE_TOKEN


def _decide_node(caller: Caller, verb: Verb, claim: NodeClaim) -> Decision:
    """For the node itself, by its connection or its secret, and for an admin, who writes with the right secret unless
    it may be lost. To everybody else an unknown node looks like a known one."""
    admin = caller.binding.admin
    if admin and verb is Verb.READ:
        return ALLOWED if claim.secret is not None else NO_NODE
    if claim.given is None:
        if claim.secret is not None and caller.node == claim.node:
            return ALLOWED
        if not admin:
            return WRONG_NODE_SECRET if caller.node else ADMINS_ONLY
        if verb is not Verb.REMOVE:
            return NO_FIELD
    elif not isinstance(claim.given, str):
        return BAD_FIELD
    if claim.secret is None:
        return NO_NODE if admin else WRONG_NODE_SECRET
    if isinstance(claim.given, str) and not secrets_equal(claim.given, claim.secret):
        return WRONG_NODE_SECRET
    return ALLOWED

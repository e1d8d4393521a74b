"""The table of operations against the lists of the reference page, and the gates that it makes."""

from __future__ import annotations

import pytest
from tests.control.conftest import OPERATOR, Site, machine, user

from worldfs.access.binding import ADMIN, MOTHER, SYSTEM, Binding
from worldfs.control import OPS, ROWS, Caller, PlaneError
from worldfs.control.control_plane import _OPERATIONS

ADMIN_ONLY = {
    "metrics", "auth_status", "auth_rotate", "node_invite_create", "node_join_pending_list", "node_join_approve",
    "node_join_deny", "node_join", "node_lease_refresh", "node_service_upsert", "node_service_get", "node_list",
    "node_get", "get_node", "node_delete", "audit_tail",
}  # fmt: skip
SCOPES = {
    "operator": {"node_join_pending_list", "node_join_approve", "node_join_deny"},
    "node": {"node_invite_create", "node_delete"},
    "project": {
        "project_create", "project_update", "project_delete", "project_mount_set", "project_mount_remove",
        "project_token_rotate", "project_token_revoke", "project_activate", "project_up",
    },
}  # fmt: skip
D6 = {"node_join", "node_lease_refresh", "node_service_upsert", "node_service_get", "node_delete"}


def test_the_table_is_the_reference_pages() -> None:
    assert {op for op, row in ROWS.items() if row.admin} == ADMIN_ONLY
    for scope, ops in SCOPES.items():
        assert {op for op, row in ROWS.items() if row.scope == scope} == ops
    assert {op for op, row in ROWS.items() if row.node} == D6 | {"version", "connect", "ping"}
    assert {op for op, row in ROWS.items() if row.own} == D6 | {"node_join_approve"}
    assert {op for op, row in ROWS.items() if row.free} == D6 | {
        "version", "session_attach", "session_restore", "session_history", "agent_list", "agent_get", "ping",
        "node_join_request", "agent_ensure", "node_join_approve",
    }  # fmt: skip


def test_every_operation_of_the_table_is_carried_out(site: Site) -> None:
    assert set(OPS) - set(site.plane._own) == set(_OPERATIONS)


@pytest.mark.parametrize("op", sorted(OPS))
def test_every_gate_of_every_operation(site: Site, op: str) -> None:
    row = OPS[op]
    silent = Caller(Binding(ADMIN, MOTHER, SYSTEM), "")
    if row.mutation:
        assert site.refused(op, silent) == "correlation_required"
    if row.admin and not row.own:
        assert site.refused(op, user()) == "forbidden"
    if not row.node:
        assert site.refused(op, machine("node-1")) == "forbidden"
    with pytest.raises(PlaneError) as error:
        site.plane.call(op, {"limit": "x", "replay_limit": "x", "project_id": 5, "node_id": 5, "request_id": 5,
                             "expires_in_ms": "x", "fs_url": 5, "invite_token": 5, "name": 5}, OPERATOR)  # fmt: skip
        raise PlaneError("invalid_payload", correlated=row.correlated)  # those that read nothing of it
    assert error.value.code in ("invalid_payload", "missing_field")
    assert error.value.correlated is row.correlated

"""The control operations, one row each: the roles that may call it, the required fields, and where it is answered.

Source: acheron §3.1 (gates) and 1.2; acheron D5 (operations that work before a user has a
project), acheron D6 (what a node may do), acheron D15 (collecting an approval), acheron D16 (two spellings).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

PLANE: Final = "plane"
DOOR: Final = "door"


class OpRow(NamedTuple):
    """A row. The server authorizes with it too, before it dispatches."""

    op: str
    at: str = PLANE  # the component that answers it
    admin: bool = False  # role admin only, except as `own` says
    own: bool = False  # other roles may, if the payload's own secret is right (invite, node_secret, request id)
    mutation: bool = False  # needs `id` or `correlation_id`
    scope: str = ""  # operator | node | project: the token that a configured plane asks for, and the audit's word
    free: bool = False  # works for a user who has no project yet
    node: bool = False  # role node may send it
    correlated: bool = True  # errors name the correlation id
    topology: bool = False  # notifies debug subscribers that the workspace changed
    action: str = ""  # of the project's access policy: read | observe | mount | admin

    @property
    def light(self) -> bool:
        """Answered from memory: may be called on an event loop. The others wait for the disk."""
        return not self.mutation

    @property
    def audited(self) -> bool:
        return self.mutation and bool(self.scope)


_ROWS: Final = (
    OpRow("metrics", admin=True, correlated=False),
    OpRow("audit_tail", admin=True, correlated=False),
    OpRow("node_invite_create", admin=True, mutation=True, scope="node"),
    OpRow("node_join", admin=True, own=True, mutation=True, free=True, node=True, topology=True),
    OpRow("node_join_request", mutation=True, free=True),
    OpRow("node_join_pending_list", admin=True, scope="operator"),
    OpRow("node_join_approve", admin=True, own=True, mutation=True, scope="operator", free=True, topology=True),
    OpRow("node_join_deny", admin=True, mutation=True, scope="operator"),
    OpRow("node_lease_refresh", admin=True, own=True, mutation=True, free=True, node=True),
    OpRow("node_list", admin=True),
    OpRow("node_get", admin=True),
    OpRow("get_node", admin=True),  # as 004 writes it (acheron D16)
    OpRow("node_delete", admin=True, own=True, mutation=True, scope="node", free=True, node=True, topology=True),
    OpRow("node_service_upsert", admin=True, own=True, mutation=True, free=True, node=True),
    OpRow("node_service_get", admin=True, own=True, free=True, node=True),
    OpRow("node_service_watch", correlated=False),
    OpRow("node_service_unwatch", correlated=False),
    OpRow("project_create", mutation=True, scope="project", topology=True),
    OpRow("project_update", mutation=True, scope="project", topology=True, action="admin"),
    OpRow("project_delete", mutation=True, scope="project", topology=True, action="admin"),
    OpRow("project_get", action="read"),
    OpRow("project_list"),
    OpRow("project_mount_set", mutation=True, scope="project", topology=True, action="mount"),
    OpRow("project_mount_remove", mutation=True, scope="project", topology=True, action="mount"),
    OpRow("project_mount_list", action="read"),
    OpRow("project_token_rotate", mutation=True, scope="project", action="admin"),
    OpRow("project_token_revoke", mutation=True, scope="project", action="admin"),
    OpRow("project_activate", mutation=True, scope="project", topology=True, action="read"),
    OpRow("project_up", mutation=True, scope="project", topology=True, action="admin"),
    OpRow("workspace_status", action="observe"),
    OpRow("reconcile_status", action="observe"),
    # Operations of a connection are answered by the server; their rows are here, so that there is one list.
    OpRow("version", DOOR, free=True, node=True, correlated=False),
    OpRow("connect", DOOR, node=True, correlated=False),
    OpRow("ping", DOOR, free=True, node=True, correlated=False),
    OpRow("auth_status", DOOR, admin=True, correlated=False),
    OpRow("auth_rotate", DOOR, admin=True, correlated=False),
    OpRow("agent_list", DOOR, free=True),
    OpRow("agent_get", DOOR, free=True),
    OpRow("agent_ensure", DOOR, free=True, correlated=False),
    OpRow("session_attach", DOOR, free=True, correlated=False),
    OpRow("session_restore", DOOR, free=True, correlated=False),
    OpRow("session_history", DOOR, free=True, correlated=False),
    OpRow("session_status", DOOR, correlated=False),
    OpRow("session_resume", DOOR, correlated=False),
    OpRow("session_list", DOOR, correlated=False),
    OpRow("session_close", DOOR, correlated=False),
    OpRow("debug_subscribe", DOOR, correlated=False),
    OpRow("debug_unsubscribe", DOOR, correlated=False),
)

ROWS: Final[Mapping[str, OpRow]] = MappingProxyType({row.op: row for row in _ROWS})
OPS: Final[Mapping[str, OpRow]] = MappingProxyType({row.op: row for row in _ROWS if row.at == PLANE})

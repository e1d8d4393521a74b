"""The records of the control plane, frozen, as the log stores them.

Secrets are stored in clear: the protocol returns them again. Only the owner can read the files.
"""

from __future__ import annotations

from typing import Final

import msgspec

from worldfs.access.binding import SYSTEM
from worldfs.formats.wire.frames import Json

UNKNOWN: Final = "unknown"
NO_PLATFORM: Final = (UNKNOWN, UNKNOWN, UNKNOWN)
NORMAL: Final = "normal"
BUILTIN: Final = "system_builtin"


def platform_json(platform: tuple[str, str, str]) -> Json:
    return {"os": platform[0], "arch": platform[1], "runtime_kind": platform[2]}


class NodeRecord(msgspec.Struct, frozen=True):
    """A machine that joined. Times are milliseconds since 1970."""

    node_id: str
    node_name: str
    fs_url: str
    platform: tuple[str, str, str]  # os, arch, runtime_kind
    secret: str
    lease_token: str
    joined_at_ms: int
    last_seen_ms: int
    lease_expires_at_ms: int
    labels: dict[str, str] = {}

    def envelope(self) -> Json:
        """The reply to a join, an approval and a refresh."""
        return {
            "node_id": self.node_id,
            "node_name": self.node_name,
            "fs_url": self.fs_url,
            "node_secret": self.secret,
            "lease_token": self.lease_token,
            "platform": platform_json(self.platform),
            "lease_expires_at_ms": self.lease_expires_at_ms,
        }

    def to_json(self, service_count: int, seen_ms: int = 0) -> Json:
        """A node (acheron §3.2): no secrets."""
        return {
            "node_id": self.node_id,
            "node_name": self.node_name,
            "fs_url": self.fs_url,
            "platform": platform_json(self.platform),
            "service_count": service_count,
            "joined_at_ms": self.joined_at_ms,
            "last_seen_ms": max(self.last_seen_ms, seen_ms),
            "lease_expires_at_ms": self.lease_expires_at_ms,
        }


class ServiceCatalog(msgspec.Struct, frozen=True):
    """The services of a node, in its order, and their hashes. None before its first upsert of services."""

    services: list[Json]
    hashes: list[str]


class Invite(msgspec.Struct, frozen=True):
    """Works once. `ended_ms`: when it was redeemed (0: not yet)."""

    invite_id: str
    invite_token: str
    created_at_ms: int
    expires_at_ms: int
    ended_ms: int = 0

    def to_json(self, now_ms: int) -> Json:
        return {
            "invite_id": self.invite_id,
            "invite_token": self.invite_token,
            "created_at_ms": self.created_at_ms,
            "expires_at_ms": self.expires_at_ms,
            "redeemed": self.ended_ms > 0,
            "expired": self.expires_at_ms <= now_ms,
        }


class JoinRequest(msgspec.Struct, frozen=True):
    """A request to join. `node_id` once approved, until the requester has collected its envelope (acheron D15)."""

    request_id: str
    node_name: str
    fs_url: str
    platform: tuple[str, str, str]
    requested_at_ms: int
    node_id: str = ""
    approved_ms: int = 0

    def to_json(self) -> Json:
        return {
            "request_id": self.request_id,
            "node_name": self.node_name,
            "fs_url": self.fs_url,
            "platform": platform_json(self.platform),
            "requested_at_ms": self.requested_at_ms,
        }


class Mount(msgspec.Struct, frozen=True):
    """A candidate: this export of this node at a place of the project."""

    mount_path: str
    node_id: str
    export_name: str

    def to_json(self) -> Json:
        return {"mount_path": self.mount_path, "node_id": self.node_id, "export_name": self.export_name}


class Project(msgspec.Struct, frozen=True):
    """A shared scope. `token`: "" while unlocked. `nodes`: members in addition to those of its mounts."""

    project_id: str
    name: str
    created_at_ms: int
    updated_at_ms: int
    vision: str = ""
    status: str = "active"
    kind: str = NORMAL
    protected: bool = False
    token: str = ""
    actions: dict[str, str] = {}
    agents: dict[str, dict[str, str]] = {}
    mounts: tuple[Mount, ...] = ()
    nodes: tuple[str, ...] = ()

    @property
    def system(self) -> bool:
        return self.kind == BUILTIN

    @property
    def locked(self) -> bool:
        return bool(self.token) or self.system

    @property
    def root(self) -> str:
        """`workspace_root` (acheron D19): a path of the tree, never one of the server's disk."""
        return f"/projects/{self.project_id}/fs"

    def to_json(self) -> Json:
        """A project (acheron §3.3), without its token."""
        return {
            "project_id": self.project_id,
            "name": self.name,
            "vision": self.vision,
            "status": self.status,
            "kind": self.kind,
            "is_delete_protected": self.protected,
            "token_locked": self.locked,
            "created_at_ms": self.created_at_ms,
            "updated_at_ms": self.updated_at_ms,
            "access_policy": {"actions": self.actions, "agents": self.agents},
            "mounts": [mount.to_json() for mount in self.mounts],
        }

    def summary_json(self) -> Json:
        """Its line of `project_list`."""
        return {
            "project_id": self.project_id,
            "name": self.name,
            "status": self.status,
            "kind": self.kind,
            "is_delete_protected": self.protected,
            "mount_count": len(self.mounts),
        }


class ActiveProject(msgspec.Struct, frozen=True):
    """The project that an agent activated last."""

    project_id: str


class AuditEntry(msgspec.Struct, frozen=True):
    """One line of the audit trail. Holds no secret and no payload."""

    id: int
    timestamp_ms: int
    agent_id: str
    control_type: str
    scope: str
    correlation_id: str
    result: str
    error_code: str | None

    def to_json(self) -> dict[str, object]:
        return msgspec.structs.asdict(self)


def system_project(now_ms: int) -> Project:
    """The primary agent's own: builtin, protected, locked, and without mounts until some are set (acheron D48)."""
    return Project(SYSTEM, "System", now_ms, now_ms, kind=BUILTIN, protected=True)

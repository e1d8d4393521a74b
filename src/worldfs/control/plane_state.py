"""The state of the control plane in memory: tables of records, counters, the audit trail, and indexes.

A `StateChange` is the only thing that alters it: a list of records put and dropped. Applied to an equal state it gives
an equal state, which is why the log of changes is the state.
"""

from __future__ import annotations

import hashlib
import heapq
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from .plane_records import ActiveProject, AuditEntry, Invite, JoinRequest, NodeRecord, Project, ServiceCatalog

Record = NodeRecord | ServiceCatalog | Invite | JoinRequest | Project | ActiveProject
TABLES: Final[Mapping[str, type[Record]]] = {
    "nodes": NodeRecord,
    "catalogs": ServiceCatalog,
    "invites": Invite,
    "requests": JoinRequest,
    "projects": Project,
    "actives": ActiveProject,
}
AUDIT_KEPT: Final = 2048
DAY_MS: Final = 24 * 3_600_000
INVITE_KEPT_MS: Final = DAY_MS  # an ended invite is remembered for so long
REQUEST_KEPT_MS: Final = 7 * DAY_MS  # an undecided request, an uncollected envelope


class StateChange(msgspec.Struct):
    """The changes of one call: a line of the log. `puts`: table, key, record (None: dropped); `counts`: new values."""

    seq: int = 0
    puts: list[tuple[str, str, Any]] = []
    counts: dict[str, int] = {}
    audit: AuditEntry | None = None

    def __bool__(self) -> bool:
        return bool(self.puts or self.counts)


class PlaneState:
    """No lock and no clock of its own; `version` grows with every change, and when a lease runs out."""

    def __init__(self) -> None:
        self.seq = 0
        self.version = 0
        self.nodes: dict[str, NodeRecord] = {}
        self.catalogs: dict[str, ServiceCatalog] = {}
        self.invites: dict[str, Invite] = {}
        self.requests: dict[str, JoinRequest] = {}
        self.projects: dict[str, Project] = {}
        self.actives: dict[str, ActiveProject] = {}
        self.counts: dict[str, int] = {}
        self.audit: deque[AuditEntry] = deque(maxlen=AUDIT_KEPT)
        self.local: frozenset[str] = frozenset()  # nodes of the realm: not stored, set at every start
        self.mounted: dict[str, set[str]] = {}  # projects by the node that they mount or hold
        self._by_secret: dict[bytes, tuple[str, str]] = {}  # digest of a secret: table and key
        self._endings: list[tuple[int, str, str]] = []  # a heap of expiry times
        self._tables: dict[str, dict[str, Any]] = {
            "nodes": self.nodes,
            "catalogs": self.catalogs,
            "invites": self.invites,
            "requests": self.requests,
            "projects": self.projects,
            "actives": self.actives,
        }

    # -- changing --------------------------------------------------------------------------------------------------

    def apply(self, change: StateChange) -> None:
        self.seq = change.seq
        self.version += 1
        for table, key, record in change.puts:
            self._put(table, key, record)
        self.counts.update(change.counts)
        if change.audit is not None:
            self.audit.append(change.audit)

    def _put(self, table: str, key: str, record: Record | None) -> None:
        rows = self._tables[table]
        before = rows.get(key)
        if isinstance(before, (NodeRecord, Invite)):
            self._by_secret.pop(secret_digest(_secret(before)), None)
        if isinstance(before, Project):
            for node_id in _members(before):
                known = self.mounted[node_id]
                known.discard(key)
                if not known:
                    del self.mounted[node_id]
        if record is None:
            rows.pop(key, None)
            return
        rows[key] = record
        if isinstance(record, (NodeRecord, Invite)):
            self._by_secret[secret_digest(_secret(record))] = (table, key)
        if isinstance(record, Project):
            for node_id in _members(record):
                self.mounted.setdefault(node_id, set()).add(key)
        ending = expiry_ms(record)
        if ending:
            heapq.heappush(self._endings, (ending, table, key))
            if len(self._endings) > 64 + 4 * (len(self.nodes) + len(self.invites) + len(self.requests)):
                self._sweep()

    def _sweep(self) -> None:
        """Refreshed leases leave stale heap entries; when most are stale, rebuild the heap."""
        live = (
            (expiry_ms(record), table, key)
            for table in ("nodes", "invites", "requests")
            for key, record in self._tables[table].items()
        )
        self._endings = list(live)
        heapq.heapify(self._endings)

    def due(self, now_ms: int) -> list[tuple[str, str]]:
        """Pop expired entries off the heap: expired leases are returned; expired records are dropped.

        Dropping needs no line in the log: it follows from the record and the time, at the next start as well.
        """
        ended = []
        while self._endings and self._endings[0][0] <= now_ms:
            _, table, key = heapq.heappop(self._endings)
            record = self._tables[table].get(key)
            if record is None or not 0 < expiry_ms(record) <= now_ms:
                continue
            ended.append((table, key))
            if table != "nodes":
                self._put(table, key, None)
        if ended:
            self.version += 1
        return ended

    def next_due_ms(self) -> int | None:
        return self._endings[0][0] if self._endings else None

    # -- reading ---------------------------------------------------------------------------------------------------

    def rows(self) -> Iterator[tuple[str, str, Record]]:
        """Every record, for a snapshot."""
        for table, rows in self._tables.items():
            for key, record in rows.items():
                yield table, key, record

    def secret_owner(self, secret: str) -> tuple[str, str]:
        """The table and key of the owner of a secret, or empty strings. By digest, so that timing reveals nothing."""
        return self._by_secret.get(secret_digest(secret), ("", ""))

    def project(self, project_id: str) -> Project | None:
        return self.projects.get(project_id)

    def dependent_projects(self, node_id: str) -> list[str]:
        """The projects whose status depends on a node."""
        return sorted(self.mounted.get(node_id, ()))

    def project_ids(self) -> list[str]:
        """Sorted by bytes, `system` included."""
        return sorted(self.projects)

    def image(self) -> dict[str, object]:
        """The durable state as plain values: equal images are equal states."""
        return {
            "tables": {name: msgspec.to_builtins(rows) for name, rows in self._tables.items()},
            "counts": dict(sorted(self.counts.items())),
        }


def _secret(record: NodeRecord | Invite) -> str:
    return record.secret if isinstance(record, NodeRecord) else record.invite_token


def _members(project: Project) -> set[str]:
    return {mount.node_id for mount in project.mounts} | set(project.nodes)


def expiry_ms(record: object) -> int:
    """When a lease runs out, or when a record may be forgotten (milliseconds); 0: never."""
    if isinstance(record, NodeRecord):
        return record.lease_expires_at_ms
    if isinstance(record, Invite):
        return (record.ended_ms or record.expires_at_ms) + INVITE_KEPT_MS
    if isinstance(record, JoinRequest):
        return (record.approved_ms or record.requested_at_ms) + REQUEST_KEPT_MS
    return 0


def secret_digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()

"""The control plane: nodes, services, projects, and the access to them. In memory, every change a durable line of a
log.

Usable from many threads. Two locks: `_writing` is held by one change at a time, through its fsync; `_lock` only around
the memory, so that readers never wait for a disk.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec

from worldfs.access.binding import SYSTEM
from worldfs.access.caller import Caller, PlaneConfig
from worldfs.base.clock import Clock
from worldfs.base.durable import Disk
from worldfs.base.errors import WorldError
from worldfs.formats.wire.frames import Json
from worldfs.tree.change_feed import ChangeFeed

from . import membership, node_pairing, plane_status, project_operations
from .authorization import authorize
from .control_operations import OPS, OpRow
from .event_history import EventHistory
from .notifications import Notifications
from .payload_fields import identifier
from .plane_error import PlaneError
from .plane_records import AuditEntry, Project, system_project
from .plane_state import PlaneState, StateChange
from .reconciler import Reconciler
from .subscribers import AVAILABILITY, RECONCILE, ServiceWatchers
from .transaction import NODES, PAIRING, Operation, PlaneContext, Transaction
from .write_ahead_log import WriteAheadLog

_OPERATIONS: Final[Mapping[str, Operation]] = {
    "node_invite_create": node_pairing.invite_create,
    "node_join": node_pairing.join,
    "node_join_request": node_pairing.join_request,
    "node_join_pending_list": node_pairing.pending_list,
    "node_join_approve": node_pairing.approve,
    "node_join_deny": node_pairing.deny,
    "node_lease_refresh": membership.lease_refresh,
    "node_list": membership.node_list,
    "node_get": membership.node_get,
    "get_node": membership.node_get,
    "node_delete": membership.delete,
    "node_service_upsert": membership.service_upsert,
    "node_service_get": membership.service_get,
    "project_create": project_operations.create,
    "project_update": project_operations.update,
    "project_delete": project_operations.delete,
    "project_get": project_operations.get,
    "project_list": project_operations.list_projects,
    "project_mount_set": project_operations.mount_set,
    "project_mount_remove": project_operations.mount_remove,
    "project_mount_list": project_operations.mount_list,
    "project_token_rotate": project_operations.token_rotate,
    "project_token_revoke": project_operations.token_revoke,
    "project_activate": project_operations.activate,
    "project_up": project_operations.up,
    "workspace_status": project_operations.workspace_status,
    "reconcile_status": project_operations.reconcile_status,
    "audit_tail": plane_status.audit_tail,
}


class ControlPlane(Notifications):
    """`open`, `call` and the queries; `tick` when it is due; `close`."""

    OPS: Final[Mapping[str, OpRow]] = OPS

    def __init__(self, context: PlaneContext, clock: Clock, feed: ChangeFeed, log: WriteAheadLog | None) -> None:
        """Use `open`."""
        super().__init__(context, clock, feed)
        self._log = log
        self._writing = threading.RLock()
        self._own: Mapping[str, Operation] = MappingProxyType(
            {
                "metrics": lambda transaction, _: plane_status.metrics(
                    transaction.state, self._watchers.metrics_json(), transaction.now
                ),
                "node_service_watch": lambda transaction, payload: self._watch_reply(transaction.caller, payload)[0],
                "node_service_unwatch": lambda _, __: {"enabled": False},
            }
        )

    @classmethod
    def open(
        cls,
        root: Path | None,
        clock: Clock,
        feed: ChangeFeed,
        config: PlaneConfig | None = None,
        *,
        disk: Disk | None = None,
        writes: bool = True,
    ) -> ControlPlane:
        """The plane stored below `root` (HOME/.paos/plane; None: memory only).

        Raises `Busy` when another process writes it; `writes` False opens it read-only: changes are `storage_error`.
        """
        state, chronicle = PlaneState(), None
        if root is not None:
            chronicle = WriteAheadLog(root, disk, writes=writes)
            try:
                known = chronicle.load(state)
                if writes and not known:
                    chronicle.rewrite(state)
            except BaseException:
                chronicle.close()
                raise
        plane = cls(PlaneContext(state, Reconciler(), config or PlaneConfig(), {}), clock, feed, chronicle)
        if chronicle is not None and writes:
            plane._watchers = ServiceWatchers(EventHistory(chronicle.root))
        state.due(plane._now())
        if SYSTEM not in state.projects:
            change = StateChange(puts=[("projects", SYSTEM, system_project(plane._now()))])
            if writes:
                plane._commit(change)
            else:
                state.apply(change)
        plane._reconcile.run_cycle(state, plane._now())
        return plane

    def close(self) -> None:
        with self._writing:
            if self._log is not None:
                self._watchers.history.close()
                self._log.close()
                self._log = None

    # -- operations ------------------------------------------------------------------------------------------------

    def call(self, op: str, payload: Json, caller: Caller) -> Json:
        """One control operation by its bare name; the payload of its reply. Durable when it returns.

        Raises `PlaneError`, whose `correlated` says whether the reply names the correlation id.
        """
        row = OPS.get(op)
        if row is None:
            raise PlaneError("unsupported", "unsupported control operation", correlated=False)
        if not isinstance(payload, dict):
            raise PlaneError("invalid_payload", correlated=row.correlated)
        try:
            authorize(row, payload, caller, self.config)
            return self._change(row, payload, caller) if row.mutation else self._query(row, payload, caller)
        except PlaneError as error:
            error.correlated = error.correlated and (row.correlated or error.code == "correlation_required")
            if row.audited:
                self._audit_refusal(row, caller, error.code)
            raise

    def _query(self, row: OpRow, payload: Json, caller: Caller) -> Json:
        with self._lock:
            transaction = self._transaction(row, caller)
            if transaction.now >= self._reconcile.due_ms():
                self._reconcile.run_cycle(self._state, transaction.now)
            reply = self._operation(row)(transaction, payload)
            return reply() if callable(reply) else reply

    def _change(self, row: OpRow, payload: Json, caller: Caller) -> Json:
        with self._writing:
            with self._lock:
                transaction = self._transaction(row, caller)
            reply = self._operation(row)(transaction, payload)
            if transaction.change:
                if row.audited:
                    transaction.change.audit = self._audit(row, caller, None, transaction.now)
                self._commit(transaction.change)
            with self._lock:
                if transaction.projects:
                    self._reconcile.request_cycle(transaction.now, f"control.{row.op}")
                answer = reply() if callable(reply) else reply
            self._notify(transaction)
            return answer

    def _operation(self, row: OpRow) -> Operation:
        return _OPERATIONS.get(row.op) or self._own[row.op]

    def _transaction(self, row: OpRow, caller: Caller) -> Transaction:
        return Transaction(self._context, row, caller, self._now())

    def _commit(self, change: StateChange) -> None:
        """On disk first, then in memory. The caller holds `_writing`, or is the only user."""
        change.seq = self._state.seq + 1
        if self._log is not None:
            if not self._log.writes:
                raise PlaneError("storage_error")
            try:
                if self._log.needs_repair:
                    self._log.rewrite(self._state)
                self._log.append(change)
            except WorldError as error:
                raise PlaneError("storage_error") from error
        with self._lock:
            self._state.apply(change)
        if self._log is not None and self._log.needs_compaction:
            with suppress(WorldError):  # the longer log is still valid; the next change tries again
                self._log.rewrite(self._state)

    def _audit(self, row: OpRow, caller: Caller, code: str | None, now_ms: int) -> AuditEntry:
        audit = self._state.audit
        return AuditEntry(
            audit[-1].id + 1 if audit else 1,
            now_ms,
            caller.binding.agent or caller.node,
            f"control.{row.op}",
            row.scope,
            caller.correlation[:256].encode("utf-8", "replace").decode(),
            "ok" if code is None else "error",
            code,
        )

    def _audit_refusal(self, row: OpRow, caller: Caller, code: str) -> None:
        """Record a refusal in the audit trail, but not the polling for an approval."""
        if row.own and code == "forbidden":
            return
        with self._writing:
            line = self._audit(row, caller, code or None, self._now())
            with self._lock:
                self._state.audit.append(line)
            if self._log is not None and self._log.writes:
                with suppress(WorldError):  # a full disk must not turn a refusal into another error
                    self._log.append_unsynced(line)
                    if self._log.needs_compaction:
                        self._log.rewrite(self._state)

    # -- time ------------------------------------------------------------------------------------------------------

    def tick(self) -> float:
        """Process what is due: expired leases, the reconciler's cycle. Returns the seconds until the next tick."""
        with self._writing:
            with self._lock:
                now, topics = self._now(), list[str]()
                for table, key in self._state.due(now):
                    if table != "nodes":
                        topics.append(PAIRING)
                        continue
                    topics += [NODES, f"{NODES}/{key}"]
                    topics += [f"/projects/{project_id}" for project_id in self._state.dependent_projects(key)]
                    self._reconcile.request_cycle(now, "lease_expired")
                if now >= self._reconcile.due_ms():
                    self._reconcile.run_cycle(self._state, now)
                changed, moved = self._reconcile.take_changes()
                due, ending = self._reconcile.due_ms(), self._state.next_due_ms()
            if topics:
                self._feed.publish(*dict.fromkeys(topics))
            if changed is not None:
                was, present = changed
                payload = {
                    "event": "workspace_availability_changed",
                    "reason": self._reconcile.reason,
                    "before": was.to_json(),
                    "after": present.to_json(),
                    "ts_ms": now,
                }
                for listener in self._listeners:
                    listener.push(AVAILABILITY, payload)
            for listener in self._listeners if moved else ():
                with self._lock:
                    shown = plane_status.reconcile_status(self._state, self._reconcile, listener.binding, now)
                listener.push(RECONCILE, shown)
        return max((due if ending is None else min(due, ending)) - now, 1) / 1000

    # -- for the realm -- ----------------------------------------------------------------------------

    def set_local_nodes(self, node_ids: Iterable[str]) -> None:
        """Set the robots that this realm serves itself.

        They are nodes of the tree, but did not join: no lease, no secret, no file server. So they are
        members of a project by `ensure_project`, and not in node_list or `node_ids`; no joining node gets their ids.
        """
        with self._lock:
            before, self._state.local = self._state.local, frozenset(node_ids)
            changed = sorted(before ^ self._state.local)
            self._state.version += bool(changed)
        if changed:
            self._feed.publish(NODES, *(f"{NODES}/{node_id}" for node_id in changed))

    def ensure_project(self, project_id: str, name: str, nodes: Sequence[str]) -> None:
        """Create a project of the realm if it is missing, and set these members. It cannot be deleted.

        Its name, policy, token and mounts stay as operators have set them. Raises `PlaneError`
        (invalid_payload) for an invalid id, or `system`.
        """
        identifier({"id": project_id}, "id")
        if project_id == SYSTEM:
            raise PlaneError("invalid_payload")
        with self._writing:
            now, members = self._now(), tuple(sorted(set(nodes)))
            known = self._state.project(project_id)
            if known is None:
                project = Project(project_id, name, now, now, protected=True, nodes=members)
            else:
                project = msgspec.structs.replace(known, protected=True, nodes=members)
            if project == known:
                return
            self._commit(StateChange(puts=[("projects", project_id, project)]))
            with self._lock:
                self._reconcile.request_cycle(now, "ensure_project")
        self._feed.publish(f"/projects/{project_id}")

    def audit(self, op: str, scope: str, caller: Caller, error_code: str = "") -> None:
        """Write an audit line for an operation that the server carries out itself."""
        self._audit_refusal(OpRow(op, scope=scope), caller, error_code)

    def image(self) -> Json:
        """The durable state as plain values, secrets included: for tests and for comparing."""
        with self._lock:
            return self._state.image()

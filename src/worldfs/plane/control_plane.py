"""The control plane: nodes, services, projects, and who may see them. In memory, every change a durable line of a log.

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

from worldfs.ground.clock import Clock
from worldfs.ground.durable import Disk
from worldfs.ground.errors import WorldError
from worldfs.tree.binding import SYSTEM
from worldfs.tree.change_feed import ChangeFeed
from worldfs.wire.frames import Json

from . import membership, node_pairing, plane_status, project_operations
from .authorization import authorize
from .caller import Caller, PlaneConfig
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
    """`open` it, `call` it, look at it; `tick` it now and then; `close` it."""

    OPS: Final[Mapping[str, OpRow]] = OPS

    def __init__(self, ground: PlaneContext, clock: Clock, feed: ChangeFeed, chronicle: WriteAheadLog | None) -> None:
        """Use `open`."""
        super().__init__(ground, clock, feed)
        self._chronicle = chronicle
        self._writing = threading.RLock()
        self._own: Mapping[str, Operation] = MappingProxyType(
            {
                "metrics": lambda work, _: plane_status.metrics(work.state, self._watchers.shown(), work.now),
                "node_service_watch": lambda work, payload: self._watch_reply(work.caller, payload)[0],
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
        """What stands below `root` (HOME/.paos/plane; None: memory only).

        Raises `Busy` when another process writes it; `writes` False looks only: changes are `storage_error`.
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
        plane._reconcile.look(state, plane._now())
        return plane

    def close(self) -> None:
        with self._writing:
            if self._chronicle is not None:
                self._watchers.history.close()
                self._chronicle.close()
                self._chronicle = None

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
            return self._change(row, payload, caller) if row.mutation else self._look(row, payload, caller)
        except PlaneError as error:
            error.correlated = error.correlated and (row.correlated or error.code == "correlation_required")
            if row.audited:
                self._note(row, caller, error.code)
            raise

    def _look(self, row: OpRow, payload: Json, caller: Caller) -> Json:
        with self._lock:
            work = self._work(row, caller)
            if work.now >= self._reconcile.due_ms():
                self._reconcile.look(self._state, work.now)
            reply = self._operation(row)(work, payload)
            return reply() if callable(reply) else reply

    def _change(self, row: OpRow, payload: Json, caller: Caller) -> Json:
        with self._writing:
            with self._lock:
                work = self._work(row, caller)
            reply = self._operation(row)(work, payload)
            if work.change:
                if row.audited:
                    work.change.audit = self._audit(row, caller, None, work.now)
                self._commit(work.change)
            with self._lock:
                if work.projects:
                    self._reconcile.ask(work.now, f"control.{row.op}")
                answer = reply() if callable(reply) else reply
            self._tell(work)
            return answer

    def _operation(self, row: OpRow) -> Operation:
        return _OPERATIONS.get(row.op) or self._own[row.op]

    def _work(self, row: OpRow, caller: Caller) -> Transaction:
        return Transaction(self._ground, row, caller, self._now())

    def _commit(self, change: StateChange) -> None:
        """On disk first, then in memory. The caller holds `_writing`, or is the only one."""
        change.seq = self._state.seq + 1
        if self._chronicle is not None:
            if not self._chronicle.writes:
                raise PlaneError("storage_error")
            try:
                if self._chronicle.broken:
                    self._chronicle.rewrite(self._state)
                self._chronicle.append(change)
            except WorldError as error:
                raise PlaneError("storage_error") from error
        with self._lock:
            self._state.apply(change)
        if self._chronicle is not None and self._chronicle.grown:
            with suppress(WorldError):  # the long log is as good; the next change tries again
                self._chronicle.rewrite(self._state)

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

    def _note(self, row: OpRow, caller: Caller, code: str) -> None:
        """A refusal in the audit trail. Who waits for his approval asks often, and is no news."""
        if row.own and not caller.binding.admin and code == "forbidden":
            return
        with self._writing:
            line = self._audit(row, caller, code or None, self._now())
            with self._lock:
                self._state.audit.append(line)
            if self._chronicle is not None and self._chronicle.writes:
                with suppress(WorldError):  # a full disk must not turn a refusal into another error
                    self._chronicle.note(line)
                    if self._chronicle.grown:
                        self._chronicle.rewrite(self._state)

    # -- time ------------------------------------------------------------------------------------------------------

    def tick(self) -> float:
        """What time has brought: leases that ran out, the reconciler's cycle. Seconds until it is wanted again."""
        with self._writing:
            with self._lock:
                now, topics = self._now(), list[str]()
                for table, key in self._state.due(now):
                    if table != "nodes":
                        topics.append(PAIRING)
                        continue
                    topics += [NODES, f"{NODES}/{key}"]
                    topics += [f"/projects/{project_id}" for project_id in self._state.affected(key)]
                    self._reconcile.ask(now, "lease_expired")
                if now >= self._reconcile.due_ms():
                    self._reconcile.look(self._state, now)
                changed, moved = self._reconcile.news()
                due, ending = self._reconcile.due_ms(), self._state.next_due_ms()
            if topics:
                self._feed.publish(*dict.fromkeys(topics))
            if changed is not None:
                was, present = changed
                payload = {
                    "event": "workspace_availability_changed",
                    "reason": self._reconcile.reason,
                    "before": was.shown(),
                    "after": present.shown(),
                    "ts_ms": now,
                }
                for listener in self._listeners:
                    listener.push(AVAILABILITY, payload)
            for listener in self._listeners if moved else ():
                with self._lock:
                    shown = plane_status.reconcile_status(self._state, self._reconcile, listener.binding, now)
                listener.push(RECONCILE, shown)
        return max((due if ending is None else min(due, ending)) - now, 1) / 1000

    # -- what the realm itself brings ------------------------------------------------------------------------------

    def set_local_nodes(self, node_ids: Iterable[str]) -> None:
        """The robots that this realm serves itself.

        They are places of the tree, but not nodes that joined: no lease, no secret, no file server. So they are in
        `local_nodes` and, by `ensure_project`, members of a project, and not in node_list or `node_ids`.
        """
        with self._lock:
            before, self._state.local = self._state.local, frozenset(node_ids)
            changed = sorted(before ^ self._state.local)
            self._state.version += bool(changed)
        if changed:
            self._feed.publish(NODES, *(f"{NODES}/{node_id}" for node_id in changed))

    @property
    def local_nodes(self) -> Sequence[str]:
        return sorted(self._state.local)

    def ensure_project(self, project_id: str, name: str, nodes: Sequence[str]) -> None:
        """A project of the realm's own, made if need be, with these members. It cannot be deleted.

        Its name, policy, token and mounts are whatever operators have made of them. Raises `PlaneError`
        (invalid_payload) for an id that is none, or is `system`.
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
                self._reconcile.ask(now, "ensure_project")
        self._feed.publish(f"/projects/{project_id}")

    def audit(self, op: str, scope: str, caller: Caller, error_code: str = "") -> None:
        """A line of the audit trail for an operation that the door carries out itself."""
        self._note(OpRow(op, scope=scope), caller, error_code)

    def image(self) -> Json:
        """All that outlives a crash, as plain values, secrets included: for tests and for comparing."""
        with self._lock:
            return self._state.image()

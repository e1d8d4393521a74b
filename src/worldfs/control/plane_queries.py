"""Queries of the control plane, for the tree and the server: from memory, never waiting for a disk.

Callers must not modify the returned values.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from worldfs.access.binding import Binding
from worldfs.access.credentials import holds_project_token, secrets_equal
from worldfs.access.decision import Decision
from worldfs.access.judge import judge
from worldfs.access.things import ProjectRequest, ProjectScope
from worldfs.access.verb import Verb
from worldfs.base.clock import Clock
from worldfs.formats.wire.frames import Json

from . import membership, node_pairing, plane_status
from .mount_selection import state_of
from .transaction import PlaneContext


class PlaneQueries:
    """The queries; the changes are `ControlPlane`'s."""

    def __init__(self, context: PlaneContext, clock: Clock) -> None:
        self._context = context
        self._state, self._reconcile, self.config, self._seen = context
        self._clock = clock
        self._lock = threading.RLock()

    def _now(self) -> int:
        return int(self._clock.now().timestamp() * 1000)

    @property
    def version(self) -> int:
        """Grows with every change, and when a lease runs out (at the tick that notices)."""
        return self._state.version

    def node_ids(self) -> Sequence[str]:
        """The nodes that joined, sorted by bytes. Local ones (`set_local_nodes`) are not among them."""
        with self._lock:
            return sorted(self._state.nodes)

    def node(self, node_id: str) -> Json | None:
        """A node, as in acheron §3.2."""
        with self._lock:
            node = self._state.nodes.get(node_id)
            return None if node is None else membership.public_node_json(self._state, node, self._seen)

    def labels(self, node_id: str) -> Mapping[str, str]:
        with self._lock:
            node = self._state.nodes.get(node_id)
            return {} if node is None else node.labels

    def online(self, node_id: str) -> str:
        """online | degraded (its lease has run out) | missing (deleted, or unknown)."""
        with self._lock:
            return state_of(self._state.nodes.get(node_id), self._now())

    def catalog(self, node_id: str) -> Sequence[Json] | None:
        """The services, in the node's order: not to be changed. `[]`: explicitly none.

        None: no such node, or one that has never upserted services, which the policy may describe (acheron D49).
        """
        with self._lock:
            catalog = self._state.catalogs.get(node_id)
            return None if catalog is None else catalog.services

    def project_ids(self) -> Sequence[str]:
        with self._lock:
            return self._state.project_ids()

    def project(self, project_id: str) -> Json | None:
        """A project, as in acheron §3.3."""
        with self._lock:
            project = self._state.project(project_id)
            return None if project is None else project.to_json()

    def members(self, project_id: str) -> Sequence[str]:
        """The nodes of a project: of its mounts, and given to `ensure_project` (acheron D23)."""
        with self._lock:
            project = self._state.project(project_id)
            if project is None:
                return []
            return sorted({mount.node_id for mount in project.mounts} | set(project.nodes))

    def status(self, binding: Binding) -> Json | None:
        """W of the binding's project, secrets only for the primary agent; None if it may observe none."""
        with self._lock:
            project = self._state.project(binding.project)
            if project is None or not judge(binding, Verb.OBSERVE, ProjectScope(project, own=True)):
                return None
            return plane_status.workspace(self._state, self._reconcile, project, binding, self._now())

    def allows(self, binding: Binding, action: str) -> bool:
        """The access policy of the bound project: read | observe | invoke | mount | admin. An admin passes always.

        All others are denied for an unknown project, for `system`, or with a token that is not the
        project's current one where one is needed (acheron D7).
        """
        with self._lock:
            return bool(judge(binding, Verb(action), ProjectScope(self._state.project(binding.project))))

    def holds_token(self, binding: Binding) -> bool:
        """Whether the binding has its project's current token (`require_project_token` of a service, acheron D7)."""
        with self._lock:
            project = self._state.project(binding.project)
            return project is not None and holds_project_token(project, binding)

    def attachable(self, binding: Binding) -> Decision:
        """Whether an agent may be bound to the binding's project with its token.

        Codes: project_not_found, project_assignment_forbidden (`system`), missing_field and project_auth_failed (a
        locked project without or with a wrong token), project_policy_forbidden.
        """
        with self._lock:
            request = ProjectRequest(self._state.project(binding.project), binding.token or None, own=True)
            return judge(binding, Verb.READ, request)

    def invites(self, redeemed: bool = False, expired: bool = False) -> list[Json]:
        """Invites that still work, the oldest first; ended ones as well, on request."""
        with self._lock:
            now = self._now()
            found = [
                invite
                for invite in self._state.invites.values()
                if (redeemed or not invite.ended_ms) and (expired or invite.ended_ms or invite.expires_at_ms > now)
            ]
            return [invite.to_json(now) for invite in sorted(found, key=lambda one: one.created_at_ms)]

    def pending(self) -> list[Json]:
        """Pending join requests."""
        with self._lock:
            return node_pairing.pending(self._state.requests.values())

    def invite_valid(self, token: str) -> bool:
        with self._lock:
            table, key = self._state.secret_owner(token)
            invite = self._state.invites.get(key) if table == "invites" else None
            return invite is not None and not invite.ended_ms and invite.expires_at_ms > self._now()

    def node_secret_valid(self, node_id: str, secret: str) -> bool:
        """Constant time."""
        with self._lock:
            node = self._state.nodes.get(node_id)
            return node is not None and secrets_equal(secret, node.secret)

    def node_of_secret(self, secret: str) -> str:
        """The node of a secret; "" if unknown."""
        with self._lock:
            table, key = self._state.secret_owner(secret)
            return key if table == "nodes" else ""

    def touch_node(self, node_id: str) -> None:
        """Set the node's `last_seen_ms` to now; in memory only until the next refresh."""
        with self._lock:
            if node_id in self._state.nodes:
                self._seen[node_id] = self._now()

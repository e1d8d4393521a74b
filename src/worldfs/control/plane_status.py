"""The current status of a workspace, the reconciler and the whole plane: W, reconcile_status, metrics, audit_tail.

Source: acheron §3.2 and 3.3; acheron D13, D17, D18, D37 (access to secrets).
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from worldfs.access.binding import Binding
from worldfs.access.judge import judge
from worldfs.access.things import ProjectScope, Realm
from worldfs.access.verb import Verb
from worldfs.formats.wire.frames import Json

from .mount_selection import ONLINE, mount_json, select_mounts, state_of
from .payload_fields import AGENT_MAX, is_id, limit_of
from .plane_error import PlaneError
from .plane_records import Project
from .plane_state import PlaneState
from .reconciler import Reconciler

if TYPE_CHECKING:
    from .transaction import Transaction

AUDIT_MOST: Final = 500
AUDIT_USUAL: Final = 50


def workspace(state: PlaneState, reconcile: Reconciler, project: Project | None, binding: Binding, now_ms: int) -> Json:
    """A workspace_status, as in acheron §3.3. Secrets of nodes only for the primary agent, and only in an admin's
    hands."""
    if project is None:
        everything = judge(binding, Verb.OBSERVE, Realm.EVERY_PROJECT)
        return {
            "agent_id": binding.agent,
            "project_id": None,
            "workspace_root": None,
            "mounts": [],
            "desired_mounts": [],
            "actual_mounts": [],
            "drift": {"count": 0, "items": []},
            "availability": {"mounts_total": 0, "online": 0, "degraded": 0, "missing": 0},
            **(reconcile.status_of_all() if everything else reconcile.status_of((), ())),
        }
    places = select_mounts(project, state.nodes, now_ms)
    secrets = bool(judge(binding, Verb.SEE, Realm.MOUNT_SECRETS))
    selected, desired = (
        [
            mount_json(mount, state.nodes.get(mount.node_id), places.states[mount.node_id], secrets=secrets)
            for mount in mounts
        ]
        for mounts in (places.selected, places.desired)
    )
    return {
        "agent_id": binding.agent,
        "project_id": project.project_id,
        "workspace_root": project.root,
        "mounts": selected,
        "desired_mounts": desired,
        "actual_mounts": selected,
        "drift": {"count": len(places.drift), "items": list(places.drift)},
        "availability": places.availability,
        **reconcile.status_of((project.project_id,), places.failed),
    }


def reconcile_status(
    state: PlaneState, reconcile: Reconciler, binding: Binding, now_ms: int, only: Project | None = None
) -> Json:
    """Of all projects that the binding may observe, or of one."""
    ids = [only.project_id] if only is not None else state.project_ids()
    projects = [state.projects[key] for key in ids if judge(binding, Verb.OBSERVE, ProjectScope(state.projects[key]))]
    shown = {project.project_id for project in projects}
    failed = [text for key, text in reconcile.failed if key in shown]
    everything = only is None and judge(binding, Verb.OBSERVE, Realm.EVERY_PROJECT)
    return {
        **(reconcile.status_of_all() if everything else reconcile.status_of(shown, failed)),
        "failed_ops_total": reconcile.failed_total if everything else reconcile.total(shown),
        "cycles_total": reconcile.cycles,
        "failed_ops": failed,
        "projects": [select_mounts(project, state.nodes, now_ms).row(project.project_id) for project in projects],
    }


def metrics(state: PlaneState, watch: Json, now_ms: int) -> Json:
    """The counters of the reference, as JSON that parses (acheron D13). `watch`: the part about the watchers of
    services."""
    counts = state.counts
    active = sum(not one.ended_ms and one.expires_at_ms > now_ms for one in state.invites.values())
    return {
        "invites": {
            "active": active,
            "created_total": counts.get("invites", 0),
            "redeemed_total": counts.get("invites_redeemed", 0),
        },
        "nodes": {
            "online": sum(state_of(node, now_ms) == ONLINE for node in state.nodes.values()),
            "total": len(state.nodes),
            "joins_total": counts.get("joins", 0),
            "lease_refresh_total": counts.get("lease_refreshes", 0),
            "ensured_total": 0,  # the reference counts itself as a node; here every node has joined
            "deletes_total": counts.get("deletes", 0),
            "reaped_total": 0,  # an expired lease degrades the node, and deletes none (acheron D19)
        },
        "projects": {
            "total": len(state.projects),
            "active_bindings": len(state.actives),
            "creates_total": counts.get("creates", 0),
            "updates_total": counts.get("updates", 0),
            "deletes_total": counts.get("project_deletes", 0),
            "token_rotates_total": counts.get("token_rotates", 0),
            "token_revokes_total": counts.get("token_revokes", 0),
            "activations_total": counts.get("activations", 0),
            "mounts_total": sum(len(project.mounts) for project in state.projects.values()),
            "mount_sets_total": counts.get("mount_sets", 0),
            "mount_removes_total": counts.get("mount_removes", 0),
        },
        "node_service_watch": watch,
    }


def audit_tail(transaction: Transaction, payload: Json) -> Json:
    """`{limit≤500,agent_id?}`: the newest, oldest of them first."""
    limit = limit_of(payload, "limit", AUDIT_USUAL, AUDIT_MOST)
    agent = payload.get("agent_id")
    if agent is not None and not is_id(agent, AGENT_MAX):
        raise PlaneError("invalid_payload")
    newest = islice(
        (line for line in reversed(transaction.state.audit) if agent is None or line.agent_id == agent), limit
    )
    return {"audit": [line.to_json() for line in newest][::-1]}

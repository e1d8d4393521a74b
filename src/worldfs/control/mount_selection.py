"""The mounts of a project: the candidate selected for each place, and the drift from the desired state.

Source: acheron §3.3 (W, drift); acheron D19 (an expired lease degrades, a deleted node
is missing). Pure functions of records and a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from worldfs.formats.wire.frames import Json

from .plane_error import PlaneError
from .plane_records import Mount, NodeRecord, Project

ONLINE, DEGRADED, MISSING = "online", "degraded", "missing"
_RANK: Final = {ONLINE: 2, DEGRADED: 1, MISSING: 0}
Nodes = Mapping[str, NodeRecord]


def state_of(node: NodeRecord | None, now_ms: int) -> str:
    if node is None:
        return MISSING
    return ONLINE if node.lease_expires_at_ms > now_ms else DEGRADED


class MountTable(NamedTuple):
    """The mounts of a project at a time."""

    desired: Sequence[Mount]  # all candidates, as given
    selected: Sequence[Mount]  # one per place, in the order of `desired`
    states: Mapping[str, str]  # by node id
    drift: Sequence[Json]
    failed: Sequence[str]  # a line per place that does not work

    def count(self, state: str) -> int:
        return sum(self.states[mount.node_id] == state for mount in self.selected)

    @property
    def availability(self) -> Json:
        return {
            "mounts_total": len(self.selected),
            "online": self.count(ONLINE),
            "degraded": self.count(DEGRADED),
            "missing": self.count(MISSING),
        }

    def row(self, project_id: str) -> Json:
        """Its line of `reconcile_status`."""
        return {
            "project_id": project_id,
            "mounts": len(self.desired),
            "selected_mounts": len(self.selected),
            "online_mounts": self.count(ONLINE),
            "degraded_mounts": self.count(DEGRADED),
            "missing_mounts": self.count(MISSING),
            "drift_count": len(self.drift),
            "queue_depth": len(self.failed),
        }


def select_mounts(project: Project, nodes: Nodes, now_ms: int) -> MountTable:
    """Choose: online before degraded before missing, then the later lease, then the order given."""
    states = {mount.node_id: state_of(nodes.get(mount.node_id), now_ms) for mount in project.mounts}
    first: dict[str, Mount] = {}
    best: dict[str, tuple[tuple[int, int], Mount]] = {}
    for mount in project.mounts:
        first.setdefault(mount.mount_path, mount)
        node = nodes.get(mount.node_id)
        worth = (_RANK[states[mount.node_id]], node.lease_expires_at_ms if node else 0)
        if mount.mount_path not in best or worth > best[mount.mount_path][0]:
            best[mount.mount_path] = (worth, mount)
    chosen = {path: mount for path, (_, mount) in best.items()}
    drift: list[Json] = []
    failed: list[str] = []
    for path, wanted in first.items():
        used = chosen[path]
        state = states[used.node_id]
        if state != ONLINE:
            word = "missing" if state == MISSING else "offline"
            failed.append(f"project={project.project_id} mount={path} node={used.node_id} {word}")
        kind = _DRIFT[state] if state != ONLINE or used is not wanted else None
        if kind is not None:
            drift.append({
                "mount_path": path, "kind": kind[0], "severity": kind[1],
                "selected_node_id": used.node_id, "desired_node_id": wanted.node_id, "message": kind[2],
            })  # fmt: skip
    selected = [mount for mount in project.mounts if chosen[mount.mount_path] is mount]
    return MountTable(project.mounts, selected, states, drift, failed)


_DRIFT: Final = {
    MISSING: ("missing_node", "error", "selected node is missing"),
    DEGRADED: ("node_offline", "error", "selected node lease is expired"),
    ONLINE: ("failover_active", "warning", "using healthy failover node"),
}


def mount_json(mount: Mount, node: NodeRecord | None, state: str, *, secrets: bool) -> Json:
    """A mount, as in acheron §3.3. A deleted node has its id as its name, and no address."""
    return {
        "mount_path": mount.mount_path,
        "node_id": mount.node_id,
        "export_name": mount.export_name,
        "node_name": node.node_name if node else mount.node_id,
        "fs_url": node.fs_url if node else "",
        "fs_auth_token": node.secret if node and secrets else None,
        "online": state == ONLINE,
        "state": state,
    }


def overlaps(one: str, other: str) -> bool:
    """Whether one place is inside the other. The same place is not: it is a failover candidate."""
    if one == other:
        return False
    return other.startswith(one.rstrip("/") + "/") or one.startswith(other.rstrip("/") + "/")


def add(mounts: Iterable[Mount], mount: Mount, most: int) -> tuple[Mount, ...]:
    """The mounts with one more candidate; a duplicate is ignored. Raises `PlaneError` (mount_conflict,
    invalid_payload)."""
    kept = tuple(mounts)
    if mount in kept:
        return kept
    if any(overlaps(known.mount_path, mount.mount_path) for known in kept):
        raise PlaneError("mount_conflict")
    if len(kept) >= most:
        raise PlaneError("invalid_payload")
    return (*kept, mount)


def digest(rows: Iterable[tuple[str, MountTable]]) -> str:
    """Equal while every project uses the same mounts, in the same states."""
    mark = hashlib.blake2b(digest_size=8)
    for project_id, places in rows:
        for mount in places.selected:
            row = (project_id, mount.mount_path, mount.node_id, mount.export_name, places.states[mount.node_id])
            mark.update("\0".join(row).encode() + b"\n")
    return "0x" + mark.hexdigest()

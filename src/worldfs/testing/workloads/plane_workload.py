"""Workload of a control plane: nodes join and leave; services, projects, mounts and tokens change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from worldfs.access.binding import ADMIN, MOTHER, SYSTEM, Binding
from worldfs.base.disk import Disk
from worldfs.base.durable import Root
from worldfs.base.model import Json
from worldfs.control import Caller, ControlPlane, PlaneError
from worldfs.testing.manual_clock import ManualClock
from worldfs.tree.change_feed import ChangeFeed

from . import View, Workload

FOLDER = "plane"
OPERATOR = Caller(Binding(ADMIN, MOTHER, SYSTEM), "c1")


def prepare(path: Path) -> None:
    Root.build(path / FOLDER, 0o700)


def run(path: Path, disk: Disk) -> Iterator[str]:
    plane = _open(path, disk)
    yield "made"
    for name in ("a", "b"):
        _do(plane, "project_create", name=name)
        yield f"project {name}"
    invite = str(_do(plane, "node_invite_create")["invite_token"])
    yield "a node is invited"
    node = _joined(plane, invite)
    yield "it has joined"
    service = {"service_id": "s", "kind": "camera", "state": "on", "endpoints": ["/s"], "note": "x" * 900}
    _do(plane, "node_service_upsert", **node, services=[service])
    yield "it has a service"
    try:
        _do(plane, "project_delete", project_id="proj-9")
    except PlaneError:
        yield "refused"
    _do(plane, "project_mount_set", project_id="proj-2", node_id="node-1", export_name="w", mount_path="/src")
    yield "mounted"
    _do(plane, "project_token_rotate", project_id="proj-2")
    yield "a token"
    _do(plane, "project_delete", project_id="proj-1")
    yield "project a is gone"
    _do(plane, "project_activate", project_id="proj-2")
    yield "project b is active"
    plane.close()


def restart(path: Path, disk: Disk) -> Iterator[str]:
    plane = _open(path, disk)
    known = set(plane.project_ids())
    made = str(_do(plane, "project_create", name="again")["project_id"])
    assert made not in known, f"{made} is given twice"
    yield "a project again"
    invite = str(_do(plane, "node_invite_create")["invite_token"])
    yield "invited again"
    _joined(plane, invite)
    yield "a node again"
    plane.close()


def inspect(path: Path) -> View:
    """The records without random values; the repaired log gives the same once more."""
    plane = _open(path, Disk())
    image = plane.image()
    plane.close()
    plane = _open(path, Disk())
    assert plane.image() == image, "a second start finds something else"
    plane.close()
    tables = image["tables"]
    found: dict[str, object] = {"active": tables["actives"]}
    for id, row in tables["projects"].items():
        found[f"project {id}"] = f"{row['name']} {row['mounts']} token {bool(row['token'])}"
    for id, row in tables["nodes"].items():
        services = tables["catalogs"].get(id, {"services": ()})["services"]
        found[f"node {id}"] = f"{row['node_name']} {[service['service_id'] for service in services]}"
    found |= {id: bool(row["ended_ms"]) for id, row in tables["invites"].items()}
    return found


def _joined(plane: ControlPlane, invite: str) -> dict[str, str]:
    node = _do(plane, "node_join", invite_token=invite, node_name="edge")
    return {key: str(node[key]) for key in ("node_id", "node_secret")}


def _do(plane: ControlPlane, op: str, **payload: object) -> Json:
    return plane.call(op, payload, OPERATOR)


def _open(path: Path, disk: Disk) -> ControlPlane:
    return ControlPlane.open(path / FOLDER, ManualClock(), ChangeFeed(), disk=disk)


LIFE = Workload("plane", prepare, run, restart, inspect)

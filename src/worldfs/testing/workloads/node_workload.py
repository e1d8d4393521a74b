"""Workload of a node's identity: it requests to join, is approved, refreshes its lease, and saves its services'
state."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from worldfs.base.disk import Disk
from worldfs.base.durable import Root
from worldfs.plugins.node_fs.node_identity import NodeIdentity

from . import View, Workload

FOLDER = "nodes"
FILE = f"{FOLDER}/edge.json"
SERVER = "ws://10.0.0.1:18790"


def prepare(path: Path) -> None:
    Root.build(path / FOLDER, 0o700)


def run(path: Path, disk: Disk) -> Iterator[str]:
    identity = _open(path, disk)
    identity.save(request_id="req-1", node_name="edge")
    yield "asked"
    identity.save(node_id="node-1", node_secret="s" * 64, lease_expires_at_ms=1_774_970_000_000, request_id=None)
    yield "let in"
    identity.keep("camera", {"enabled": False, "note": "x" * 3000})
    yield "a service keeps something"
    identity.save(lease_expires_at_ms=1_774_980_000_000)
    yield "the lease is fresh"
    identity.keep("camera", {"enabled": True})
    yield "the service keeps something else"
    identity.close()


def restart(path: Path, disk: Disk) -> Iterator[str]:
    identity = _open(path, disk)
    identity.save(lease_expires_at_ms=1_774_990_000_000)
    yield "fresh again"
    identity.close()


def inspect(path: Path) -> View:
    """A node that joined is the same node after any crash: its invite works only once."""
    identity = _open(path, Disk())
    try:
        said = json.loads((path / FILE).read_bytes()) if (path / FILE).exists() else {}
        return {"node": f"{identity.node} {identity.secret} {identity.request} {said}", "services": identity.services}
    finally:
        identity.close()


def _open(path: Path, disk: Disk) -> NodeIdentity:
    identity = NodeIdentity(str(path / FILE), SERVER, disk=disk)
    identity.load()
    return identity


LIFE = Workload("node", prepare, run, restart, inspect)

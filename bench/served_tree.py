"""The served tree at size: a walk of a thousand nodes of five services each, and the index of all five thousand.

In the process that serves, without a socket (bench/ws.py has that): what the tree itself costs.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

from ._stand import scratch

if TYPE_CHECKING:
    from worldfs.namespace.binding_namespace import BindingNamespace
    from worldfs.world.served_world import ServedWorld

FIGURES = ("tree.walk_1000_nodes_s", "services.index_5000_ms")
NODES, SERVICES = 1000, 5
CHANGES = 10
INDEX = "/agents/self/services/SERVICES.json"


def run() -> dict[str, float]:
    from worldfs.access.binding import MOTHER, SYSTEM, Binding
    from worldfs.world.served_world import ServedWorld

    with scratch() as place:
        (place / "home").mkdir()
        with ServedWorld.open(place / "home", memory_only=True) as realm:
            admin = Binding("admin", MOTHER, SYSTEM)
            secrets = [_join(realm, admin, f"n{at}") for at in range(NODES)]
            tree = realm.namespace(admin)
            began = time.perf_counter()
            places = _walk(tree, "/")
            walked = time.perf_counter() - began
            node, secret = secrets[0]
            changed, again = [], []
            for turn in range(CHANGES):
                _upsert(realm, admin, node, secret, f"turn {turn}")
                began = time.perf_counter()
                data = tree.read(INDEX).data
                between = time.perf_counter()
                tree.read(INDEX)
                changed.append(between - began)
                again.append(time.perf_counter() - between)
            if data.count(b'"service_id"') < NODES * SERVICES:
                raise RuntimeError(f"an index of {data.count(b'service_id')} services")
    return {
        "tree.walk_1000_nodes_s": walked,
        "tree.walk_1000_nodes_places": places,
        "tree.walk_us_per_place": 1e6 * walked / places,
        "services.index_5000_ms": 1000 * statistics.median(changed),
        "services.index_5000_again_ms": 1000 * statistics.median(again),
    }


def _walk(tree: BindingNamespace, path: str) -> int:
    """Every place below, stat and list of each: how many there are."""
    found = tree.stat(path)
    if not found.directory:
        return 1
    start = path.rstrip("/")
    return 1 + sum(_walk(tree, f"{start}/{name}") for name in tree.list(path))


def _ask(realm: ServedWorld, admin: Any, op: str, payload: dict[str, Any]) -> dict[str, Any]:
    from worldfs.access.caller import Caller

    return realm.plane.call(op, payload, Caller(admin, "bench"))


def _join(realm: ServedWorld, admin: Any, name: str) -> tuple[str, str]:
    invite = _ask(realm, admin, "node_invite_create", {})["invite_token"]
    joined = _ask(realm, admin, "node_join", {"invite_token": invite, "node_name": name})
    node, secret = joined["node_id"], joined["node_secret"]
    _upsert(realm, admin, node, secret, "")
    return node, secret


def _upsert(realm: ServedWorld, admin: Any, node: str, secret: str, state: str) -> None:
    services = [
        {
            "service_id": f"tool-{at}",
            "kind": "tool",
            "state": state or "online",
            "endpoints": [f"/nodes/{node}/tool/{at}"],
            "capabilities": {"invoke": True},
            "mounts": [{"mount_id": f"m{at}", "mount_path": f"/nodes/{node}/tool/{at}", "state": "online"}],
            "permissions": {"default": "allow-by-default", "allow_roles": ["admin", "user"]},
        }
        for at in range(SERVICES)
    ]
    _ask(realm, admin, "node_service_upsert", {"node_id": node, "node_secret": secret, "services": services})

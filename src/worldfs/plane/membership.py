"""What a node does once it has joined: refreshes its lease, publishes its services, leaves. And who may look at it.

Source: acheron §3.2; acheron D6 (the right secret is enough), acheron D19, D49.
"""

from __future__ import annotations

from typing import Any

import msgspec

from worldfs.wire.frames import Json

from .event_history import ServiceEvent
from .node_pairing import LEASE_MS
from .payload_fields import identifier, labels, milliseconds, platform, secrets_equal, url
from .plane_error import ADMIN_ONLY, PlaneError
from .plane_records import NodeRecord, ServiceCatalog, platform_json
from .plane_state import PlaneState
from .service_catalog import delta, read_catalog
from .transaction import Transaction, new_secret


def lease_refresh(work: Transaction, payload: Json) -> Json:
    """`{node_id,node_secret,lease_ttl_ms?,fs_url?}` → join envelope with a new lease token."""
    node = _proved(work, payload)
    address = url(payload)
    renewed = msgspec.structs.replace(
        node,
        lease_token=new_secret("lease"),
        last_seen_ms=work.now,
        lease_expires_at_ms=work.now + milliseconds(payload, "lease_ttl_ms", LEASE_MS),
        fs_url=node.fs_url if address is None else address,
    )
    work.put("nodes", node.node_id, renewed)
    work.count("lease_refreshes")
    # A workspace shows when the node is online and where: it looks different only if one of these changed.
    work.touch_node(node.node_id, mounts=node.lease_expires_at_ms <= work.now or renewed.fs_url != node.fs_url)
    return renewed.envelope()


def delete(work: Transaction, payload: Json) -> Json:
    """`{node_id,node_secret}`. An admin may leave the secret out: the machine may be gone with it.

    Its mounts stay desired and become missing (acheron D19).
    """
    node = _proved(work, payload, needs_secret=False)
    work.put("nodes", node.node_id, None)
    if node.node_id in work.state.catalogs:
        work.put("catalogs", node.node_id, None)
    for key, request in work.state.requests.items():
        if request.node_id == node.node_id:
            work.put("requests", key, None)
    work.count("deletes")
    work.seen.pop(node.node_id, None)
    work.touch_node(node.node_id)
    return {"deleted": True, "node_id": node.node_id}


def _proved(work: Transaction, payload: Json, *, needs_secret: bool = True) -> NodeRecord:
    """The node of the payload, if the caller proved to be it, or is an admin whose secret (if needed) is right."""
    node_id = identifier(payload, "node_id")
    node = work.state.nodes.get(node_id)
    given = payload.get("node_secret")
    admin = work.caller.binding.admin
    if given is None:
        if node is not None and work.caller.node == node_id:
            return node
        if not admin:
            raise PlaneError("forbidden", ADMIN_ONLY) if not work.caller.node else PlaneError("node_auth_failed")
        if needs_secret:
            raise PlaneError("missing_field")
    elif not isinstance(given, str):
        raise PlaneError("invalid_payload")
    if node is None:
        # To who has not proved anything, a node that is not there looks like one that is.
        raise PlaneError("node_not_found" if admin else "node_auth_failed")
    if given is not None and not secrets_equal(given, node.secret):
        raise PlaneError("node_auth_failed")
    return node


def service_upsert(work: Transaction, payload: Json) -> Json:
    """`{node_id,node_secret,platform?,labels?,services?}` → the catalog, and what changed of it."""
    node = _proved(work, payload)
    known = work.state.catalogs.get(node.node_id)
    given = payload.get("services")
    catalog = None if given is None else read_catalog(given, node.node_id)
    about = msgspec.structs.replace(
        node, platform=platform(payload, node.platform), labels=labels(payload, node.labels)
    )
    changes = delta(known, catalog, work.now)
    if about != node:
        work.put("nodes", node.node_id, about)
    # The order of a catalog is shown, so it is kept although no hash tells of it.
    if catalog is not None and (known is None or catalog != known):
        work.put("catalogs", node.node_id, catalog)
    if work.change:
        work.touch_node(node.node_id, mounts=False)
    reply = {**_catalog(about, catalog or known), "service_delta": changes}
    if changes["changed"]:
        work.event = ServiceEvent(node.node_id, work.now, msgspec.json.encode(reply))
    return reply


def _catalog(node: NodeRecord, catalog: ServiceCatalog | None) -> Json:
    return {
        "node_id": node.node_id,
        "node_name": node.node_name,
        "platform": platform_json(node.platform),
        "labels": node.labels,
        "services": catalog.services if catalog is not None else [],
    }


def service_get(work: Transaction, payload: Json) -> Json:
    """`{node_id}`; from a caller who is no admin also `node_secret`, unless he is that node."""
    node = _known(work, payload) if work.caller.binding.admin else _proved(work, payload)
    return _catalog(node, work.state.catalogs.get(node.node_id))


def _known(work: Transaction, payload: Json) -> NodeRecord:
    node = work.state.nodes.get(identifier(payload, "node_id"))
    if node is None:
        raise PlaneError("node_not_found")
    return node


def node_get(work: Transaction, payload: Json) -> Json:
    return {"node": public_node_json(work.state, _known(work, payload), work.seen)}


def node_list(work: Transaction, _: Json) -> Json:
    nodes = work.state.nodes
    return {"nodes": [public_node_json(work.state, nodes[key], work.seen) for key in sorted(nodes)]}


def public_node_json(state: PlaneState, node: NodeRecord, seen: dict[str, int]) -> dict[str, Any]:
    """A node (acheron §3.2); the count of services is not filtered by anybody's rights."""
    catalog = state.catalogs.get(node.node_id)
    return node.public(len(catalog.services) if catalog else 0, seen.get(node.node_id, 0))

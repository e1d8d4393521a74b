"""What a node does once it has joined: refreshes its lease, publishes its services, leaves. And who may look at it.

Source: the reference page on Acheron, section 3.2; decisions D6 (the right secret is enough), D19, D49.
"""

from __future__ import annotations

from typing import Any

import msgspec

from worldfs.wire.frames import Json

from .fields import identifier, labels, milliseconds, platform, same, url
from .history import Event
from .nouns import Catalog, Node, platform_json
from .pairing import LEASE_MS
from .refusal import ADMIN_ONLY, PlaneError
from .services import delta, read_catalog
from .state import State
from .work import Work, token


def lease_refresh(work: Work, payload: Json) -> Json:
    """`{node_id,node_secret,lease_ttl_ms?,fs_url?}` → join envelope with a new lease token."""
    node = _proved(work, payload)
    address = url(payload)
    renewed = msgspec.structs.replace(
        node,
        lease_token=token("lease"),
        last_seen_ms=work.now,
        lease_expires_at_ms=work.now + milliseconds(payload, "lease_ttl_ms", LEASE_MS),
        fs_url=node.fs_url if address is None else address,
    )
    work.put("nodes", node.node_id, renewed)
    work.count("lease_refreshes")
    # A workspace shows when the node is online and where: it looks different only if one of these changed.
    work.touch_node(node.node_id, mounts=node.lease_expires_at_ms <= work.now or renewed.fs_url != node.fs_url)
    return renewed.envelope()


def delete(work: Work, payload: Json) -> Json:
    """`{node_id,node_secret}`. An admin may leave the secret out: the machine may be gone with it.

    Its mounts stay desired and become missing (D19).
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


def _proved(work: Work, payload: Json, *, needs_secret: bool = True) -> Node:
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
    if given is not None and not same(given, node.secret):
        raise PlaneError("node_auth_failed")
    return node


def service_upsert(work: Work, payload: Json) -> Json:
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
        work.event = Event(node.node_id, work.now, msgspec.json.encode(reply))
    return reply


def _catalog(node: Node, catalog: Catalog | None) -> Json:
    return {
        "node_id": node.node_id,
        "node_name": node.node_name,
        "platform": platform_json(node.platform),
        "labels": node.labels,
        "services": catalog.services if catalog is not None else [],
    }


def service_get(work: Work, payload: Json) -> Json:
    """`{node_id}`; from a caller who is no admin also `node_secret`, unless he is that node."""
    node = _known(work, payload) if work.caller.binding.admin else _proved(work, payload)
    return _catalog(node, work.state.catalogs.get(node.node_id))


def _known(work: Work, payload: Json) -> Node:
    node = work.state.nodes.get(identifier(payload, "node_id"))
    if node is None:
        raise PlaneError("node_not_found")
    return node


def node_get(work: Work, payload: Json) -> Json:
    return {"node": public(work.state, _known(work, payload), work.seen)}


def node_list(work: Work, _: Json) -> Json:
    nodes = work.state.nodes
    return {"nodes": [public(work.state, nodes[key], work.seen) for key in sorted(nodes)]}


def public(state: State, node: Node, seen: dict[str, int]) -> dict[str, Any]:
    """N of the reference page; the count of services is not filtered by anybody's rights."""
    catalog = state.catalogs.get(node.node_id)
    return node.public(len(catalog.services) if catalog else 0, seen.get(node.node_id, 0))

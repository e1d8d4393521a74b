"""Operations of joined nodes: lease refresh, publishing services, leaving; and the queries of nodes.

Source: acheron §3.2; acheron D6 (the right secret is enough), acheron D19, D49.
"""

from __future__ import annotations

import msgspec

from worldfs.access.judge import judge
from worldfs.access.things import NodeClaim
from worldfs.access.verb import Verb
from worldfs.base.messages import as_plain
from worldfs.formats.wire.frames import Json

from .event_history import ServiceEvent
from .node_pairing import LEASE_MS
from .payload_fields import identifier, labels, milliseconds, platform, url
from .plane_error import PlaneError
from .plane_records import NodeRecord, ServiceCatalog, platform_json
from .plane_state import PlaneState
from .service_catalog import delta, read_catalog
from .transaction import Transaction, new_secret


def lease_refresh(transaction: Transaction, payload: Json) -> Json:
    """`{node_id,node_secret,lease_ttl_ms?,fs_url?}` → join envelope with a new lease token."""
    node = _authenticated_node(transaction, payload)
    address = url(payload)
    renewed = msgspec.structs.replace(
        node,
        lease_token=new_secret("lease"),
        last_seen_ms=transaction.now,
        lease_expires_at_ms=transaction.now + milliseconds(payload, "lease_ttl_ms", LEASE_MS),
        fs_url=node.fs_url if address is None else address,
    )
    transaction.put("nodes", node.node_id, renewed)
    transaction.count("lease_refreshes")
    # A workspace status contains the node's state and address: it changes only if one of these changed.
    transaction.touch_node(
        node.node_id, mounts=node.lease_expires_at_ms <= transaction.now or renewed.fs_url != node.fs_url
    )
    return renewed.envelope()


def delete(transaction: Transaction, payload: Json) -> Json:
    """`{node_id,node_secret}`. An admin may omit the secret: it may be lost with the machine.

    Its mounts stay desired and become missing (acheron D19).
    """
    node = _authenticated_node(transaction, payload, Verb.REMOVE)
    transaction.put("nodes", node.node_id, None)
    if node.node_id in transaction.state.catalogs:
        transaction.put("catalogs", node.node_id, None)
    for key, request in transaction.state.requests.items():
        if request.node_id == node.node_id:
            transaction.put("requests", key, None)
    transaction.count("deletes")
    transaction.seen.pop(node.node_id, None)
    transaction.touch_node(node.node_id)
    return {"deleted": True, "node_id": node.node_id}


def _authenticated_node(transaction: Transaction, payload: Json, verb: Verb = Verb.WRITE) -> NodeRecord:
    """The node of the payload, if the caller speaks as it, or is an admin."""
    node_id = identifier(payload, "node_id")
    node = transaction.state.nodes.get(node_id)
    claim = NodeClaim(node_id, None if node is None else node.secret, payload.get("node_secret"))
    decision = judge(transaction.caller, verb, claim)
    if not decision:
        raise PlaneError.of(decision)
    assert node is not None  # nobody may use a node that does not exist
    return node


def service_upsert(transaction: Transaction, payload: Json) -> Json:
    """`{node_id,node_secret,platform?,labels?,services?}` → the catalog, and its changes."""
    node = _authenticated_node(transaction, payload)
    known = transaction.state.catalogs.get(node.node_id)
    given = payload.get("services")
    catalog = None if given is None else read_catalog(given, node.node_id)
    about = msgspec.structs.replace(
        node, platform=platform(payload, node.platform), labels=labels(payload, node.labels)
    )
    changes = delta(known, catalog, transaction.now)
    if about != node:
        transaction.put("nodes", node.node_id, about)
    # The order of a catalog is visible, so it is saved although no hash covers it.
    if catalog is not None and (known is None or catalog != known):
        transaction.put("catalogs", node.node_id, catalog)
    if transaction.change:
        transaction.touch_node(node.node_id, mounts=False)
    reply = {**_catalog(about, catalog or known), "service_delta": changes}
    if changes["changed"]:
        transaction.event = ServiceEvent(node.node_id, transaction.now, msgspec.json.encode(reply, enc_hook=as_plain))
    return reply


def _catalog(node: NodeRecord, catalog: ServiceCatalog | None) -> Json:
    return {
        "node_id": node.node_id,
        "node_name": node.node_name,
        "platform": platform_json(node.platform),
        "labels": node.labels,
        "services": catalog.services if catalog is not None else [],
    }


def service_get(transaction: Transaction, payload: Json) -> Json:
    """`{node_id}`; a caller that is no admin must send `node_secret`, unless it is that node."""
    node = _authenticated_node(transaction, payload, Verb.READ)
    return _catalog(node, transaction.state.catalogs.get(node.node_id))


def _known(transaction: Transaction, payload: Json) -> NodeRecord:
    node = transaction.state.nodes.get(identifier(payload, "node_id"))
    if node is None:
        raise PlaneError("node_not_found")
    return node


def node_get(transaction: Transaction, payload: Json) -> Json:
    return {"node": public_node_json(transaction.state, _known(transaction, payload), transaction.seen)}


def node_list(transaction: Transaction, _: Json) -> Json:
    nodes = transaction.state.nodes
    return {"nodes": [public_node_json(transaction.state, nodes[key], transaction.seen) for key in sorted(nodes)]}


def public_node_json(state: PlaneState, node: NodeRecord, seen: dict[str, int]) -> dict[str, object]:
    """A node (acheron §3.2); the count of services is not filtered by rights."""
    catalog = state.catalogs.get(node.node_id)
    return node.to_json(len(catalog.services) if catalog else 0, seen.get(node.node_id, 0))

"""How a machine becomes a node: by an invite, or by a join request and an approval.

Source: acheron §3.2; acheron D6 (an invite is enough), acheron D15 (an approval is collected by
its requester, once), acheron D19 (an expired lease stays).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Final

import msgspec

from worldfs.access.decision import Decision
from worldfs.access.judge import judge
from worldfs.access.things import Realm
from worldfs.access.verb import Verb
from worldfs.formats.wire.frames import Json

from .payload_fields import identifier, is_id, milliseconds, optional, platform, required_text, url
from .plane_error import PlaneError
from .plane_records import NO_PLATFORM, Invite, JoinRequest, NodeRecord
from .transaction import PAIRING, Transaction, new_secret

INVITE_MS: Final = 1_800_000
LEASE_MS: Final = 900_000
WAITING_MAX: Final = 1024  # pending requests: any client with a user token may file one


def invite_create(transaction: Transaction, payload: Json) -> Json:
    """`{expires_in_ms}` → the invite, its token in the clear."""
    lasts = milliseconds(payload, "expires_in_ms", INVITE_MS)
    invite = Invite(
        f"invite-{transaction.count('invites')}", new_secret("inv"), transaction.now, transaction.now + lasts
    )
    transaction.put("invites", invite.invite_id, invite)
    transaction.touch(PAIRING)
    return {
        "invite_id": invite.invite_id,
        "invite_token": invite.invite_token,
        "created_at_ms": invite.created_at_ms,
        "expires_at_ms": invite.expires_at_ms,
    }


def join(transaction: Transaction, payload: Json) -> Json:
    """`{invite_token,node_name?,fs_url?,lease_ttl_ms?}` → join envelope. The invite is used up."""
    table, key = transaction.state.secret_owner(required_text(payload, "invite_token"))
    invite = transaction.state.invites.get(key) if table == "invites" else None
    if invite is None:
        raise PlaneError("invite_not_found")
    if invite.ended_ms:
        raise PlaneError("invite_redeemed")
    if invite.expires_at_ms <= transaction.now:
        raise PlaneError("invite_expired")
    node = _admit(
        transaction,
        _name(payload),
        url(payload) or "",
        platform(payload, NO_PLATFORM),
        milliseconds(payload, "lease_ttl_ms", LEASE_MS),
    )
    transaction.put("invites", key, msgspec.structs.replace(invite, ended_ms=transaction.now))
    transaction.count("invites_redeemed")
    transaction.touch(PAIRING)
    return node.envelope()


def _name(payload: Json) -> str:
    name = optional(payload, "node_name")
    if name and not is_id(name):
        raise PlaneError("invalid_payload")
    return name or ""


def _admit(transaction: Transaction, name: str, fs_url: str, about: tuple[str, str, str], lasts_ms: int) -> NodeRecord:
    """A new node, with its secret and its first lease."""
    node_id = transaction.fresh("node", "nodes", transaction.state.local)
    node = NodeRecord(
        node_id,
        name or node_id,
        fs_url,
        about,
        new_secret("secret"),
        new_secret("lease"),
        transaction.now,
        transaction.now,
        transaction.now + lasts_ms,
    )
    transaction.put("nodes", node_id, node)
    transaction.count("joins")
    transaction.touch_node(node_id)
    return node


def join_request(transaction: Transaction, payload: Json) -> Json:
    """`{node_name?,fs_url?,platform?}` → the request; its id cannot be guessed, because it collects the envelope."""
    if sum(not known.node_id for known in transaction.state.requests.values()) >= WAITING_MAX:
        raise PlaneError("control_plane_error", "TooManyPendingJoins")
    key = f"pending-join-{secrets.token_hex(8)}"
    request = JoinRequest(
        key, _name(payload) or key, url(payload) or "", platform(payload, NO_PLATFORM), transaction.now
    )
    transaction.put("requests", key, request)
    transaction.touch(PAIRING)
    return request.to_json()


def pending_list(transaction: Transaction, _: Json) -> Json:
    return {"pending": pending(transaction.state.requests.values())}


def pending(requests: Iterable[JoinRequest]) -> list[Json]:
    """The pending requests, the oldest first."""
    waiting = [request for request in requests if not request.node_id]
    return [request.to_json() for request in sorted(waiting, key=lambda one: (one.requested_at_ms, one.request_id))]


def approve(transaction: Transaction, payload: Json) -> Json:
    """`{request_id,lease_ttl_ms?}` by an admin: the join envelope. By another caller: the admin's decision, once."""
    key = identifier(payload, "request_id")
    lasts = milliseconds(payload, "lease_ttl_ms", LEASE_MS)
    request = transaction.state.requests.get(key)
    if request is None:
        raise PlaneError("pending_join_not_found")
    decision = judge(transaction.caller.binding, Verb.ADMIN, Realm.JOIN_REQUESTS)
    if not decision:
        return _collect(transaction, request, decision)
    if request.node_id:
        raise PlaneError("pending_join_not_found")
    node = _admit(transaction, request.node_name, request.fs_url, request.platform, lasts)
    transaction.put(
        "requests", key, msgspec.structs.replace(request, node_id=node.node_id, approved_ms=transaction.now)
    )
    transaction.touch(PAIRING)
    return node.envelope()


def _collect(transaction: Transaction, request: JoinRequest, refusal: Decision) -> Json:
    if not request.node_id:
        raise PlaneError.of(refusal)
    node = transaction.state.nodes.get(request.node_id)
    if node is None:
        raise PlaneError("pending_join_not_found")
    transaction.put("requests", request.request_id, None)
    return node.envelope()


def deny(transaction: Transaction, payload: Json) -> Json:
    key = identifier(payload, "request_id")
    request = transaction.state.requests.get(key)
    if request is None or request.node_id:
        raise PlaneError("pending_join_not_found")
    transaction.put("requests", key, None)
    transaction.touch(PAIRING)
    return {"denied": True, "request_id": key}

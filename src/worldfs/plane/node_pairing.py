"""How a machine becomes a node: by an invite, or by asking and being let in.

Source: acheron §3.2; acheron D6 (an invite is enough), acheron D15 (an approval is collected by
who asked, once), acheron D19 (an expired lease stays).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Final

import msgspec

from worldfs.wire.frames import Json

from .payload_fields import identifier, is_id, milliseconds, optional, platform, required_text, url
from .plane_error import WAITING, PlaneError
from .plane_records import NO_PLATFORM, Invite, JoinRequest, NodeRecord
from .transaction import PAIRING, Transaction, new_secret

INVITE_MS: Final = 1_800_000
LEASE_MS: Final = 900_000
WAITING_MAX: Final = 1024  # requests that wait for a decision: anybody with a user token may file one


def invite_create(work: Transaction, payload: Json) -> Json:
    """`{expires_in_ms}` → the invite, its token in the clear."""
    lasts = milliseconds(payload, "expires_in_ms", INVITE_MS)
    invite = Invite(f"invite-{work.count('invites')}", new_secret("inv"), work.now, work.now + lasts)
    work.put("invites", invite.invite_id, invite)
    work.touch(PAIRING)
    return {
        "invite_id": invite.invite_id,
        "invite_token": invite.invite_token,
        "created_at_ms": invite.created_at_ms,
        "expires_at_ms": invite.expires_at_ms,
    }


def join(work: Transaction, payload: Json) -> Json:
    """`{invite_token,node_name?,fs_url?,lease_ttl_ms?}` → join envelope. The invite is used up."""
    table, key = work.state.whose(required_text(payload, "invite_token"))
    invite = work.state.invites.get(key) if table == "invites" else None
    if invite is None:
        raise PlaneError("invite_not_found")
    if invite.ended_ms:
        raise PlaneError("invite_redeemed")
    if invite.expires_at_ms <= work.now:
        raise PlaneError("invite_expired")
    node = _admit(
        work,
        _name(payload),
        url(payload) or "",
        platform(payload, NO_PLATFORM),
        milliseconds(payload, "lease_ttl_ms", LEASE_MS),
    )
    work.put("invites", key, msgspec.structs.replace(invite, ended_ms=work.now))
    work.count("invites_redeemed")
    work.touch(PAIRING)
    return node.envelope()


def _name(payload: Json) -> str:
    name = optional(payload, "node_name")
    if name and not is_id(name):
        raise PlaneError("invalid_payload")
    return name or ""


def _admit(work: Transaction, name: str, fs_url: str, about: tuple[str, str, str], lasts_ms: int) -> NodeRecord:
    """A new node, with its secret and its first lease."""
    node_id = work.fresh("node", "nodes", work.state.local)
    node = NodeRecord(
        node_id,
        name or node_id,
        fs_url,
        about,
        new_secret("secret"),
        new_secret("lease"),
        work.now,
        work.now,
        work.now + lasts_ms,
    )
    work.put("nodes", node_id, node)
    work.count("joins")
    work.touch_node(node_id)
    return node


def join_request(work: Transaction, payload: Json) -> Json:
    """`{node_name?,fs_url?,platform?}` → the request; its id cannot be guessed, because it collects the envelope."""
    if sum(not known.node_id for known in work.state.requests.values()) >= WAITING_MAX:
        raise PlaneError("control_plane_error", "TooManyPendingJoins")
    key = f"pending-join-{secrets.token_hex(8)}"
    request = JoinRequest(key, _name(payload) or key, url(payload) or "", platform(payload, NO_PLATFORM), work.now)
    work.put("requests", key, request)
    work.touch(PAIRING)
    return request.shown()


def pending_list(work: Transaction, _: Json) -> Json:
    return {"pending": pending(work.state.requests.values())}


def pending(requests: Iterable[JoinRequest]) -> list[Json]:
    """Who waits for a decision, the longest first."""
    waiting = [request for request in requests if not request.node_id]
    return [request.shown() for request in sorted(waiting, key=lambda one: (one.requested_at_ms, one.request_id))]


def approve(work: Transaction, payload: Json) -> Json:
    """`{request_id,lease_ttl_ms?}` by an admin: the join envelope. By another: what an admin decided, once."""
    key = identifier(payload, "request_id")
    lasts = milliseconds(payload, "lease_ttl_ms", LEASE_MS)
    request = work.state.requests.get(key)
    if request is None:
        raise PlaneError("pending_join_not_found")
    if not work.caller.binding.admin:
        return _collect(work, request)
    if request.node_id:
        raise PlaneError("pending_join_not_found")
    node = _admit(work, request.node_name, request.fs_url, request.platform, lasts)
    work.put("requests", key, msgspec.structs.replace(request, node_id=node.node_id, approved_ms=work.now))
    work.touch(PAIRING)
    return node.envelope()


def _collect(work: Transaction, request: JoinRequest) -> Json:
    if not request.node_id:
        raise PlaneError("forbidden", WAITING)
    node = work.state.nodes.get(request.node_id)
    if node is None:
        raise PlaneError("pending_join_not_found")
    work.put("requests", request.request_id, None)
    return node.envelope()


def deny(work: Transaction, payload: Json) -> Json:
    key = identifier(payload, "request_id")
    request = work.state.requests.get(key)
    if request is None or request.node_id:
        raise PlaneError("pending_join_not_found")
    work.put("requests", key, None)
    work.touch(PAIRING)
    return {"denied": True, "request_id": key}

"""The control channel: the gates of every operation, those that concern a connection, and the way to the plane.

Source: the reference page on Acheron, sections 3.1, 3.2 and 3.4; decisions D4, D5, D6, D8, D14.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING, Any, Final

from worldfs.ground.errors import BadInput, UserError
from worldfs.plane.caller import Caller, Config
from worldfs.plane.gates import judge
from worldfs.plane.ops import DOOR, ROWS, OpRow
from worldfs.tree.binding import ADMIN, MOTHER, NODE, SYSTEM, USER, Binding
from worldfs.wire.frames import BadFrame, Frame, Json

from . import replies
from .kinds import CONTROL_TOLD
from .seats import Refused, Seat, admitted, speaks_for
from .stream import Stream
from .tokens import KEPT, Visit

if TYPE_CHECKING:
    from .peer import Peer

PROTOCOL: Final = "unified-v2"
_ACKS: Final = {"version": "version_ack", "connect": "connect_ack", "ping": "pong"}
_NO_SCOPES: Final = Config()  # what belongs to a connection asks for no scope token
_KEY: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,128}")
_AGENT: Final = re.compile(r"[\w.-]{1,64}")  # the rest is said by agents/names.py


async def carry_out(peer: Peer, frame: Frame) -> bytes:
    """The reply's bytes. Raises `PlaneError`, `Refused`, `BadFrame` or an error of the house."""
    op = frame.type[8:]
    if not peer.greeted and op != "version":
        peer.ends = True
        raise Refused("protocol_mismatch", "control.version must be negotiated first")
    if frame.type in CONTROL_TOLD:
        raise Refused("unsupported", "unsupported control operation")
    row, payload = ROWS[op], _payload(frame)
    seat = peer.seats.get(None)
    if seat is None and peer.who.role == USER and not row.free and peer.unseated is not None:
        raise peer.unseated
    caller = _caller(peer, seat, frame)
    if row.at == DOOR:
        judge(row, payload, caller, _NO_SCOPES)
        answer = await _DOOR[op](peer, payload, frame)
        if isinstance(answer, bytes):
            return answer
    elif op == "node_service_watch":
        return peer.server.pushes.watch(peer, payload, caller, frame.id)
    else:
        answer = await _ask_plane(peer, row, payload, caller)
    return replies.control(_ACKS.get(op, op), frame.id, answer)


def _payload(frame: Frame) -> Json:
    try:
        return frame.body()
    except (BadFrame, RecursionError):
        raise Refused("invalid_payload", "InvalidPayload") from None


def _caller(peer: Peer, seat: Seat | None, frame: Frame) -> Caller:
    if seat is not None:
        binding = seat.binding
    else:
        binding = Binding(peer.who.role, peer.who.node if peer.who.role == NODE else peer.who.agent)
    return Caller(binding, frame.correlation_id or frame.id or "", peer.who.node)


async def _ask_plane(peer: Peer, row: OpRow, payload: Json, caller: Caller) -> Json:
    plane = peer.server.realm.plane
    if row.op == "node_service_unwatch":
        peer.server.pushes.unwatch(peer)
    if row.light:
        return plane.call(row.op, payload, caller)
    return await peer.server.thread(lambda: plane.call(row.op, payload, caller))


# -- what belongs to a connection --------------------------------------------------------------------------------------


async def _version(peer: Peer, payload: Json, frame: Frame) -> Json:
    if payload.get("protocol") != PROTOCOL:
        peer.ends = True
        raise Refused("protocol_mismatch", f"unsupported protocol, expected {PROTOCOL}")
    peer.greeted = True
    return {
        "protocol": PROTOCOL,
        "fsrpc_runtime": "acheron-1",
        "fsrpc_node": "unified-v2-fs",
        "fsrpc_node_proto": 2,
    }


async def _connect(peer: Peer, payload: Json, frame: Frame) -> Json:
    seat = peer.seats.get(None)
    agent = seat.binding.agent if seat is not None else peer.who.node
    return {"agent_id": agent, "session": peer.seats.active, "protocol": PROTOCOL, "role": peer.who.role}


async def _ping(peer: Peer, payload: Json, frame: Frame) -> Json:
    return {}


async def _auth_status(peer: Peer, payload: Json, frame: Frame) -> Json:
    return peer.server.tokens.masked()


async def _auth_rotate(peer: Peer, payload: Json, frame: Frame) -> Json:
    role = payload.get("role")
    if role not in (ADMIN, USER):
        raise Refused("invalid_payload", "role must be 'admin' or 'user'")
    token = await peer.server.thread(lambda: peer.server.tokens.rotate(role))
    return {"role": role, "token": token}


async def _agent_list(peer: Peer, payload: Json, frame: Frame) -> Json:
    return {"agents": [_agent(name) for name in await _agents(peer)]}


async def _agent_get(peer: Peer, payload: Json, frame: Frame) -> Json:
    name = _text(payload, "agent_id", _AGENT, named=True)
    if name not in await _agents(peer):
        raise Refused("agent_not_found", "AgentNotFound", named=True)
    return {"agent": _agent(name)}


async def _agents(peer: Peer) -> list[str]:
    """All for an admin; for a user those that his tree shows. While he is bound to nothing: the primary agent, and the
    one that his token speaks for."""
    seat, realm = peer.seats.get(None), peer.server.realm
    known = await peer.server.thread(realm.agents)
    if peer.who.role == ADMIN:
        return list(known)
    seen: Collection[str] = (MOTHER, peer.who.agent)
    if seat is not None:
        seen = set(await peer.server.thread(lambda: realm.agents_seen(seat.binding)))
    return [name for name in known if name in seen]


async def _agent_ensure(peer: Peer, payload: Json, frame: Frame) -> Json:
    name = _text(payload, "agent_id", _AGENT)
    if peer.who.role == USER and name == MOTHER:
        raise Refused("forbidden", "user role cannot attach to mother agent")
    speaks_for(peer.server.tokens, peer.who.holder, name)
    await _ensure(peer, name)
    return {"agent_id": name}


async def _attach(peer: Peer, payload: Json, frame: Frame) -> Json:
    key, agent = _text(payload, "session_key", _KEY), _text(payload, "agent_id", _AGENT)
    project = _text(payload, "project_id", _ID) if payload.get("project_id") is not None else None
    token = payload.get("project_token")
    if token is not None and not isinstance(token, str):
        raise Refused("invalid_payload", "InvalidPayload")
    if project is None:
        project = _same_project(peer, key, agent)
    binding = Binding(peer.who.role, agent, project, token or "")
    admitted(peer.server.tokens, peer.who.holder, binding, peer.server.realm.plane)
    await _ensure(peer, agent)
    seat = peer.seat(key, binding)
    peer.seats.active = key
    visit = Visit(key, agent, project, seat.since_ms)
    await peer.server.thread(lambda: peer.server.tokens.remember(peer.who.holder.id, visit))
    return {**seat.wire(), "workspace": {}, "attach": seat.attached()}


def _same_project(peer: Peer, key: str, agent: str) -> str:
    """Of an attach that names none: the primary agent's own, else the one that the key (or the active one) has."""
    if agent == MOTHER and peer.who.role == ADMIN:
        return SYSTEM
    seat = peer.seats.get(key) or peer.seats.get(None)
    return "" if seat is None or seat.binding.project == SYSTEM else seat.binding.project


async def _status(peer: Peer, payload: Json, frame: Frame) -> Json:
    seat = _seat(peer, payload, needed=False)
    return {**seat.wire(), "attach": seat.attached()}


async def _resume(peer: Peer, payload: Json, frame: Frame) -> Json:
    seat = _seat(peer, payload, needed=True)
    peer.seats.active = seat.key
    return {**seat.wire(), "attach": seat.attached()}


async def _list(peer: Peer, payload: Json, frame: Frame) -> Json:
    return {"active_session": peer.seats.active, "sessions": [seat.wire() for seat in peer.seats]}


async def _close(peer: Peer, payload: Json, frame: Frame) -> Json:
    key = _text(payload, "session_key", _KEY)
    peer.seats.drop(key)
    return {"session_key": key, "closed": True, "active_session": peer.seats.active}


async def _restore(peer: Peer, payload: Json, frame: Frame) -> Json:
    visits = peer.server.tokens.visits(peer.who.holder.id)
    return {"found": True, "session": visits[0].wire()} if visits else {"found": False}


async def _history(peer: Peer, payload: Json, frame: Frame) -> Json:
    limit = payload.get("limit", KEPT)
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        raise Refused("invalid_payload", "InvalidPayload")
    return {"sessions": [visit.wire() for visit in peer.server.tokens.visits(peer.who.holder.id)[:limit]]}


async def _debug_subscribe(peer: Peer, payload: Json, frame: Frame) -> bytes:
    """For the admin: the pushes tell of every project (D45, D47)."""
    if peer.who.role != ADMIN:
        raise Refused("forbidden", "operation requires admin token")
    if peer.stream is None:
        peer.stream = Stream()
    peer.server.pushes.debug(peer)
    return _subscription(peer, frame, True)


async def _debug_unsubscribe(peer: Peer, payload: Json, frame: Frame) -> bytes:
    peer.server.pushes.undebug(peer)
    return _subscription(peer, frame, False)


def _subscription(peer: Peer, frame: Frame, enabled: bool) -> bytes:
    return replies.debug("control.subscription", frame.id or "", {"enabled": enabled}, peer.server.now_ms())


_DOOR: Final[dict[str, Callable[[Peer, Json, Frame], Awaitable[Json | bytes]]]] = {
    "version": _version,
    "connect": _connect,
    "ping": _ping,
    "auth_status": _auth_status,
    "auth_rotate": _auth_rotate,
    "agent_list": _agent_list,
    "agent_get": _agent_get,
    "agent_ensure": _agent_ensure,
    "session_attach": _attach,
    "session_status": _status,
    "session_resume": _resume,
    "session_list": _list,
    "session_close": _close,
    "session_restore": _restore,
    "session_history": _history,
    "debug_subscribe": _debug_subscribe,
    "debug_unsubscribe": _debug_unsubscribe,
}


def _agent(name: str) -> Json:
    return {
        "id": name,
        "name": name,
        "description": "primary agent" if name == MOTHER else "agent",
        "is_default": name == MOTHER,
        "identity_loaded": False,
        "needs_hatching": False,
        "capabilities": ["chat"],
    }


async def _ensure(peer: Peer, name: str) -> None:
    try:
        await peer.server.thread(lambda: peer.server.realm.ensure_agent(name))
    except BadInput as error:  # a name of the protocol that our rooms cannot have
        raise Refused("invalid_payload", f"{error.found}; expected {error.expected}") from None
    except UserError as error:
        raise Refused("storage_error", error.found) from None


def _seat(peer: Peer, payload: Json, *, needed: bool) -> Seat:
    key = payload.get("session_key")
    active = key is None and not needed
    seat = peer.seats.get(None if active else _text(payload, "session_key", _KEY))
    if seat is None:
        raise Refused("not_found", "session_key not found")
    return seat


def _text(payload: Json, key: str, shape: re.Pattern[str], *, named: bool = False) -> str:
    value: Any = payload.get(key)
    if value is None:
        raise Refused("missing_field", "MissingField", named=named)
    if not isinstance(value, str) or not shape.fullmatch(value) or value in (".", ".."):
        raise Refused("invalid_payload", "InvalidPayload", named=named)
    return value

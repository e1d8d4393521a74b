"""The control channel: authorization of every operation, the operations of a connection, and dispatch to the control
plane.

Source: acheron §3.1, 3.2 and 3.4; acheron D4, D5, D6, D8, D14.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING, Final

from worldfs.access.attachment import default_project, unbound_agents
from worldfs.access.binding import MOTHER
from worldfs.access.caller import Caller, PlaneConfig
from worldfs.access.judge import judge
from worldfs.access.things import AgentClaim, AttachClaim, Realm, UnboundCall
from worldfs.access.token_file import ROLES, TokenVisit
from worldfs.access.tokens import KEPT
from worldfs.access.verb import Verb
from worldfs.base.errors import BadInput, UserError
from worldfs.control.authorization import authorize
from worldfs.control.control_operations import DOOR, ROWS, OpRow
from worldfs.formats.wire.frames import BadFrame, Frame, Json

from . import reply_frames
from .debug_stream import DebugStream
from .frame_types import CONTROL_REPLIES
from .session_table import AttachedSession, SessionRefused

if TYPE_CHECKING:
    from .peer import ClientPeer

PROTOCOL: Final = "unified-v2"
_ACKS: Final = {"version": "version_ack", "connect": "connect_ack", "ping": "pong"}
_NO_SCOPES: Final = PlaneConfig()  # operations of a connection need no scope token
_KEY: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,128}")
_AGENT: Final = re.compile(r"[\w.-]{1,64}")  # the rest is said by base/agent_names.py


async def execute_control(peer: ClientPeer, frame: Frame) -> bytes:
    """The reply's bytes. Raises `PlaneError`, `SessionRefused`, `BadFrame` or `WorldError`."""
    op = frame.type[8:]
    if not peer.greeted and op != "version":
        peer.closing = True
        raise SessionRefused("protocol_mismatch", "control.version must be negotiated first")
    if frame.type in CONTROL_REPLIES:
        raise SessionRefused("unsupported", "unsupported control operation")
    row, payload = ROWS[op], _payload(frame)
    session = peer.sessions.get(None)
    if session is None and peer.refusal is not None and not judge(peer.principal, Verb.CALL, UnboundCall(row.free)):
        raise SessionRefused.of(peer.refusal)
    caller = _caller(peer, session, frame)
    if row.at == DOOR:
        authorize(row, payload, caller, _NO_SCOPES)
        answer = await _DOOR[op](peer, payload, frame)
        if isinstance(answer, bytes):
            return answer
    elif op == "node_service_watch":
        return peer.server.pushes.watch(peer, payload, caller, frame.id)
    else:
        answer = await _ask_plane(peer, row, payload, caller)
    return reply_frames.control(_ACKS.get(op, op), frame.id, answer)


def _payload(frame: Frame) -> Json:
    try:
        return frame.body()
    except BadFrame:
        raise SessionRefused("invalid_payload", "InvalidPayload") from None


def _caller(peer: ClientPeer, session: AttachedSession | None, frame: Frame) -> Caller:
    binding = session.binding if session is not None else peer.principal.unbound
    return Caller(binding, frame.correlation_id or frame.id or "", peer.principal.node)


async def _ask_plane(peer: ClientPeer, row: OpRow, payload: Json, caller: Caller) -> Json:
    plane = peer.server.realm.plane
    if row.op == "node_service_unwatch":
        peer.server.pushes.unwatch(peer)
    if row.light:
        return plane.call(row.op, payload, caller)
    return await peer.server.thread(lambda: plane.call(row.op, payload, caller))


# -- operations of a connection  --------------------------------------------------------------------------------------


async def _version(peer: ClientPeer, payload: Json, frame: Frame) -> Json:
    if payload.get("protocol") != PROTOCOL:
        peer.closing = True
        raise SessionRefused("protocol_mismatch", f"unsupported protocol, expected {PROTOCOL}")
    peer.greeted = True
    return {
        "protocol": PROTOCOL,
        "fsrpc_runtime": "acheron-1",
        "fsrpc_node": "unified-v2-fs",
        "fsrpc_node_proto": 2,
    }


async def _connect(peer: ClientPeer, payload: Json, frame: Frame) -> Json:
    session = peer.sessions.get(None)
    agent = session.binding.agent if session is not None else peer.principal.node
    return {"agent_id": agent, "session": peer.sessions.active, "protocol": PROTOCOL, "role": peer.principal.role}


async def _ping(peer: ClientPeer, payload: Json, frame: Frame) -> Json:
    return {}


async def _auth_status(peer: ClientPeer, payload: Json, frame: Frame) -> Json:
    return peer.server.tokens.masked()


async def _auth_rotate(peer: ClientPeer, payload: Json, frame: Frame) -> Json:
    decision = judge(peer.principal, Verb.ADMIN, Realm.ROLE_TOKENS)
    if not decision:
        raise SessionRefused.of(decision)
    named = payload.get("role")
    if named not in ROLES:
        raise SessionRefused("invalid_payload", "role must be 'admin' or 'user'")
    token = await peer.server.thread(lambda: peer.server.tokens.rotate(named))
    return {"role": named, "token": token}


async def _agent_list(peer: ClientPeer, payload: Json, frame: Frame) -> Json:
    return {"agents": [_agent(name) for name in await _agents(peer)]}


async def _agent_get(peer: ClientPeer, payload: Json, frame: Frame) -> Json:
    name = _text(payload, "agent_id", _AGENT, named=True)
    if name not in await _agents(peer):
        raise SessionRefused("agent_not_found", "AgentNotFound", named=True)
    return {"agent": _agent(name)}


async def _agents(peer: ClientPeer) -> list[str]:
    """All for an admin; for a user those visible in its tree. For a user without a binding: the primary agent, and the
    one that its token acts for."""
    session, realm = peer.sessions.get(None), peer.server.realm
    known = await peer.server.thread(realm.agents)
    if judge(peer.principal, Verb.SEE, Realm.EVERY_AGENT):
        return list(known)
    seen: Collection[str] = unbound_agents(peer.principal)
    if session is not None:
        seen = set(await peer.server.thread(lambda: realm.agents_seen(session.binding)))
    return [name for name in known if name in seen]


async def _agent_ensure(peer: ClientPeer, payload: Json, frame: Frame) -> Json:
    name = _text(payload, "agent_id", _AGENT)
    decision = judge(peer.principal, Verb.ATTACH, AgentClaim(name, peer.server.tokens))
    if not decision:
        raise SessionRefused.of(decision)
    await _ensure(peer, name)
    return {"agent_id": name}


async def _attach(peer: ClientPeer, payload: Json, frame: Frame) -> Json:
    key, agent = _text(payload, "session_key", _KEY), _text(payload, "agent_id", _AGENT)
    project = _text(payload, "project_id", _ID) if payload.get("project_id") is not None else None
    token = payload.get("project_token")
    if token is not None and not isinstance(token, str):
        raise SessionRefused("invalid_payload", "InvalidPayload")
    if project is None:
        there = peer.sessions.get(key) or peer.sessions.get(None)
        project = default_project(peer.principal, agent, "" if there is None else there.binding.project)
    binding = peer.principal.bound(agent, project, token or "")
    claim = AttachClaim(binding, peer.server.tokens, peer.server.realm.plane)
    decision = judge(peer.principal, Verb.ATTACH, claim)
    if not decision:
        raise SessionRefused.of(decision)
    await (_demand if payload.get("existing") is True else _ensure)(peer, agent)
    session = peer.bind(key, binding.of_model if payload.get("model") else binding)
    peer.sessions.active = key
    visit = TokenVisit(key, agent, project, session.since_ms)
    await peer.server.thread(lambda: peer.server.tokens.remember(peer.principal.holder.id, visit))
    return {**session.to_json(), "workspace": {}, "attach": session.state_json()}


async def _status(peer: ClientPeer, payload: Json, frame: Frame) -> Json:
    session = _session(peer, payload, needed=False)
    return {**session.to_json(), "attach": session.state_json()}


async def _resume(peer: ClientPeer, payload: Json, frame: Frame) -> Json:
    session = _session(peer, payload, needed=True)
    peer.sessions.active = session.key
    return {**session.to_json(), "attach": session.state_json()}


async def _list(peer: ClientPeer, payload: Json, frame: Frame) -> Json:
    return {"active_session": peer.sessions.active, "sessions": [session.to_json() for session in peer.sessions]}


async def _close(peer: ClientPeer, payload: Json, frame: Frame) -> Json:
    key = _text(payload, "session_key", _KEY)
    peer.sessions.drop(key)
    return {"session_key": key, "closed": True, "active_session": peer.sessions.active}


async def _restore(peer: ClientPeer, payload: Json, frame: Frame) -> Json:
    visits = peer.server.tokens.visits(peer.principal.holder.id)
    return {"found": True, "session": visits[0].to_json()} if visits else {"found": False}


async def _history(peer: ClientPeer, payload: Json, frame: Frame) -> Json:
    limit = payload.get("limit", KEPT)
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        raise SessionRefused("invalid_payload", "InvalidPayload")
    return {"sessions": [visit.to_json() for visit in peer.server.tokens.visits(peer.principal.holder.id)[:limit]]}


async def _debug_subscribe(peer: ClientPeer, payload: Json, frame: Frame) -> bytes:
    """The pushes contain every project (acheron D45, D47)."""
    decision = judge(peer.principal, Verb.OBSERVE, Realm.PUSHES)
    if not decision:
        raise SessionRefused.of(decision)
    if peer.stream is None:
        peer.stream = DebugStream()
    peer.server.pushes.subscribe_debug(peer)
    return _subscription(peer, frame, True)


async def _debug_unsubscribe(peer: ClientPeer, payload: Json, frame: Frame) -> bytes:
    peer.server.pushes.unsubscribe_debug(peer)
    return _subscription(peer, frame, False)


def _subscription(peer: ClientPeer, frame: Frame, enabled: bool) -> bytes:
    return reply_frames.debug("control.subscription", frame.id or "", {"enabled": enabled}, peer.server.now_ms())


_DOOR: Final[dict[str, Callable[[ClientPeer, Json, Frame], Awaitable[Json | bytes]]]] = {
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


async def _ensure(peer: ClientPeer, name: str) -> None:
    try:
        await peer.server.thread(lambda: peer.server.realm.ensure_agent(name))
    except BadInput as error:  # a name of the protocol that our paths cannot have
        raise SessionRefused("invalid_payload", f"{error.found}; expected {error.expected}") from None
    except UserError as error:
        raise SessionRefused("storage_error", error.found) from None


async def _demand(peer: ClientPeer, name: str) -> None:
    """Our extension, for a client that only reads: no agent is made. The one that a token acts for is always there."""
    if name != peer.principal.agent and name not in await peer.server.thread(peer.server.realm.agents):
        raise SessionRefused("agent_not_found", "AgentNotFound", named=True)


def _session(peer: ClientPeer, payload: Json, *, needed: bool) -> AttachedSession:
    key = payload.get("session_key")
    active = key is None and not needed
    session = peer.sessions.get(None if active else _text(payload, "session_key", _KEY))
    if session is None:
        raise SessionRefused("not_found", "session_key not found")
    return session


def _text(payload: Json, key: str, shape: re.Pattern[str], *, named: bool = False) -> str:
    value: object = payload.get(key)
    if value is None:
        raise SessionRefused("missing_field", "MissingField", named=named)
    if not isinstance(value, str) or not shape.fullmatch(value) or value in (".", ".."):
        raise SessionRefused("invalid_payload", "InvalidPayload", named=named)
    return value

"""The first words on a connection, in the order that the servers out there expect.

control.version, control.connect, control.agent_ensure, control.session_attach (and session_status until it is warm),
acheron.t_version, acheron.t_attach fid 1. Source: acheron §1.4 and 8.
"""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from worldfs.ground.errors import Busy, NotPermitted, WorldError

from .remote_errors import RequestTimeout
from .remote_types import BoundSession, Json
from .rpc_client import RpcClient

ROOT_FID: Final = 1
MSIZE: Final = 1_048_576  # what is asked for; the answer counts
# Of ours (docs/decisions/2026-11-22-words-beyond-the-reference.md); a reference server does not know them.
EXTENSIONS: Final = ("create", "stage", "stats", "remove", "rename", "setattr", "attributes")
_WARMING_S: Final = 0.2


class BindingRequest(NamedTuple):
    """What a connection shall be bound to; empty words leave it to the server."""

    agent: str = ""
    project: str = ""
    project_token: str = ""
    session_key: str = "main"


class HandshakeResult(NamedTuple):
    """Whom the connection is bound to, the largest frame in bytes, and what the server can beyond the reference's."""

    bound: BoundSession
    msize: int
    extensions: frozenset[str]


async def perform_handshake(line: RpcClient, wish: BindingRequest, timeout: float) -> HandshakeResult:
    """Raises what the server refused."""
    try:
        async with asyncio.timeout(timeout):
            return await _greet(line, wish)
    except TimeoutError as error:
        if isinstance(error, RequestTimeout):
            raise
        raise RequestTimeout(f"no answer in {timeout:g} s", op="connect") from None


async def _greet(line: RpcClient, wish: BindingRequest) -> HandshakeResult:
    await line.control("version", {"protocol": "unified-v2"}, {})
    bound = await _connect(line, wish)
    if wish.agent or wish.project:
        bound = await _attach(line, wish, bound)
    settled = await line.ask("version", {"msize": MSIZE, "version": "acheron-1", "extensions": EXTENSIONS})
    await line.ask("attach", {"fid": ROOT_FID})
    known = settled.get("extensions")
    extensions = frozenset(str(word) for word in known) if isinstance(known, list) else frozenset()
    return HandshakeResult(bound, int(settled.get("msize", MSIZE)), extensions)


async def _connect(line: RpcClient, wish: BindingRequest) -> BoundSession:
    try:
        found = await line.control("connect", {}, {})
    except NotPermitted as error:
        # A token without a target yet: attaching to one may still be allowed.
        if error.code not in ("provisioning_required", "last_target_invalid") or not wish.agent:
            raise
        return BoundSession("user", "", "", "")
    return BoundSession(
        str(found.get("role", "")), str(found.get("agent_id", "")), "", str(found.get("session", "main"))
    )


async def _attach(line: RpcClient, wish: BindingRequest, bound: BoundSession) -> BoundSession:
    agent = wish.agent or bound.agent
    if wish.agent:
        try:
            await line.control("agent_ensure", {"agent_id": agent}, {})
        except WorldError as error:
            # The reference server does not know it, and says so without a name for the request.
            if error.code not in ("unsupported", "invalid_envelope"):
                raise
    payload: Json = {"session_key": wish.session_key, "agent_id": agent}
    payload |= {"project_id": wish.project} if wish.project else {}
    payload |= {"project_token": wish.project_token} if wish.project_token else {}
    found = await line.control("session_attach", payload, {})
    while (state := found.get("attach", {}).get("state", "ready")) == "warming":
        await asyncio.sleep(_WARMING_S)
        found |= await line.control("session_status", {"session_key": wish.session_key, "heartbeat": True}, {})
    if state == "error":
        said = found["attach"]
        code = str(said.get("error_code") or "attach_failed")
        raise Busy(str(said.get("error_message") or code), op="session_attach", code=code)
    return BoundSession(
        bound.role, str(found.get("agent_id", agent)), str(found.get("project_id") or ""), wish.session_key
    )

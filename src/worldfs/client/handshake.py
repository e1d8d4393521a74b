"""The handshake of a connection, in the order that existing servers expect.

control.version, control.connect, control.agent_ensure, control.session_attach (and session_status until it is warm),
acheron.t_version, acheron.t_attach fid 1. Source: acheron §1.4 and 8.
"""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from worldfs.base.agent_names import no_agent
from worldfs.base.errors import Busy, NotFound, NotPermitted, WorldError
from worldfs.base.json_values import as_int, as_object, as_objects, as_text
from worldfs.base.messages import coded

from .remote_errors import RequestTimeout
from .remote_types import BoundSession, Json
from .rpc_client import RpcClient

ROOT_FID: Final = 1
MSIZE: Final = 1_048_576  # the requested size; the server's answer counts
# Our extensions (docs/decisions/2026-11-22-words-beyond-the-reference.md); a reference server does not know them.
EXTENSIONS: Final = ("create", "stage", "stats", "remove", "rename", "setattr", "attributes", "person")
_WARMING_S: Final = 0.2


class BindingRequest(NamedTuple):
    """The requested binding of a connection; empty fields leave it to the server."""

    agent: str = ""
    project: str = ""
    project_token: str = ""
    session_key: str = "main"
    new_agent: bool = True  # whether an agent that is not there is made
    model: bool = False  # what is written is a model's, although the token may be a person's


class HandshakeResult(NamedTuple):
    """The binding, the largest frame in bytes, and the agreed protocol extensions."""

    bound: BoundSession
    msize: int
    extensions: frozenset[str]


async def perform_handshake(rpc: RpcClient, binding: BindingRequest, timeout: float) -> HandshakeResult:
    """Raises what the server refused."""
    try:
        async with asyncio.timeout(timeout):
            return await _greet(rpc, binding)
    except TimeoutError as error:
        if isinstance(error, RequestTimeout):
            raise
        raise RequestTimeout(coded("access.no_answer", s=timeout), op="connect") from None


async def _greet(rpc: RpcClient, binding: BindingRequest) -> HandshakeResult:
    await rpc.control("version", {"protocol": "unified-v2"}, {})
    bound = await _connect(rpc, binding)
    if binding.agent or binding.project or binding.model:
        bound = await _attach(rpc, binding, bound)
    settled = await rpc.ask("version", {"msize": MSIZE, "version": "acheron-1", "extensions": EXTENSIONS})
    await rpc.ask("attach", {"fid": ROOT_FID})
    known = settled.get("extensions")
    extensions = frozenset(str(word) for word in known) if isinstance(known, list) else frozenset()
    bound = bound._replace(person=as_text(settled.get("person")))
    return HandshakeResult(bound, as_int(settled.get("msize"), MSIZE), extensions)


async def _connect(rpc: RpcClient, binding: BindingRequest) -> BoundSession:
    try:
        found = await rpc.control("connect", {}, {})
    except NotPermitted as error:
        # A token without a default binding: attaching may still be allowed.
        if error.code not in ("provisioning_required", "last_target_invalid") or not binding.agent:
            raise
        return BoundSession("user", "", "", "")
    return BoundSession(
        str(found.get("role", "")), str(found.get("agent_id", "")), "", str(found.get("session", "main"))
    )


async def _attach(rpc: RpcClient, binding: BindingRequest, bound: BoundSession) -> BoundSession:
    agent = binding.agent or bound.agent
    if binding.agent and binding.new_agent:
        try:
            await rpc.control("agent_ensure", {"agent_id": agent}, {})
        except WorldError as error:
            # The reference server does not know it, and its error does not name the request.
            if error.code not in ("unsupported", "invalid_envelope"):
                raise
    payload: Json = {"session_key": binding.session_key, "agent_id": agent}
    payload |= {"project_id": binding.project} if binding.project else {}
    payload |= {"project_token": binding.project_token} if binding.project_token else {}
    payload |= {} if binding.new_agent else {"existing": True}
    payload |= {"model": True} if binding.model else {}
    try:
        found = await rpc.control("session_attach", payload, {})
    except NotFound as error:
        if error.code != "agent_not_found":
            raise
        raise no_agent(agent, await _agents(rpc), op="connect", far=True) from None
    while (state := as_object(found.get("attach")).get("state", "ready")) == "warming":
        await asyncio.sleep(_WARMING_S)
        found |= await rpc.control("session_status", {"session_key": binding.session_key, "heartbeat": True}, {})
    if state == "error":
        said = as_object(found.get("attach"))
        code = str(said.get("error_code") or "attach_failed")
        raise Busy(str(said.get("error_message") or code), op="session_attach", code=code)
    return BoundSession(
        bound.role, str(found.get("agent_id", agent)), str(found.get("project_id") or ""), binding.session_key
    )


async def _agents(rpc: RpcClient) -> list[str]:
    """The agents that the caller may see; none where the server does not say."""
    try:
        found = await rpc.control("agent_list", {}, {})
    except WorldError:
        return []
    return [as_text(item.get("id")) for item in as_objects(found.get("agents"))]

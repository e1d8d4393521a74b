"""One invocation of a node's service: write the payload, wait for the end, read the result."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.json_values import as_object
from worldfs.formats.wire.frames import BadFrame, decode

from .fs_errors import FsError
from .reply_parsing import Export, text

if TYPE_CHECKING:
    from .node_tunnel import Tunnel

LOOK: Final = 1.0  # s between two reads of the status of a node that tells of no changes
RESULT_MAX: Final = 4 << 20


class InvocationResult(NamedTuple):
    """`state` done or failed; `result` as the service printed it; of a failed one the cause, as the service names it
    (timeout, cancelled, error …), and a message."""

    state: str
    result: bytes
    cause: str = ""
    error: str = ""


async def invoke(tunnel: Tunnel, service: Export, payload: bytes, timeout: float) -> InvocationResult:
    """Raises `FsError` where the service cannot even be started, and when the node has gone."""
    calls, now, root = tunnel.calls, asyncio.get_running_loop().time, service.root
    until = now() + timeout
    control = (await calls.lookup(root, "control")).id
    status = (await calls.lookup(root, "status.json")).id
    changed = asyncio.Event()
    tunnel.wakes.add(changed)
    try:
        await _put(tunnel, (await calls.lookup(control, "invoke.json")).id, payload)
        while True:
            changed.clear()
            said = _object(await _get(tunnel, status))
            state = said.get("state")
            if state != "running":
                break
            left = until - now()
            if left <= 0:
                with suppress(FsError):
                    await _put(tunnel, (await calls.lookup(control, "restart")).id, b"1")
                return InvocationResult("failed", b"", "timeout", f"not done in {timeout:g} s")
            with suppress(TimeoutError):
                async with asyncio.timeout(left if service.notifies else min(LOOK, left)):
                    await changed.wait()
        result = await _get(tunnel, (await calls.lookup(root, "result.json")).id)
        if state == "done":
            return InvocationResult("done", result)
        error = as_object(_object(result).get("error"))
        why = text(error.get("message")) or text(said.get("error")) or f"the service is {text(state) or 'in no state'}"
        return InvocationResult("failed", result, text(error.get("code")), why)
    finally:
        tunnel.wakes.discard(changed)


async def _get(tunnel: Tunnel, node: int) -> bytes:
    h = await tunnel.calls.open(node)
    try:
        data = b""
        while len(data) < RESULT_MAX:
            piece, eof = await tunnel.calls.read(h, len(data))
            data += piece
            if eof or not piece:
                break
        return data
    finally:
        with suppress(FsError):
            await tunnel.calls.close_handle(h)


async def _put(tunnel: Tunnel, node: int, data: bytes) -> None:
    h = await tunnel.calls.open(node, 1)
    try:
        await tunnel.calls.write(h, 0, data)
    except FsError:
        with suppress(FsError):
            await tunnel.calls.close_handle(h)
        raise
    await tunnel.calls.close_handle(h)


def _object(data: bytes) -> dict[str, object]:
    try:
        value = decode(data)
    except BadFrame:
        return {}
    return value if isinstance(value, dict) else {}

"""How this machine becomes a node: by an invite, or by a join request and an approval (acheron D6, D15)."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Callable
from typing import Final

from worldfs.base.messages import coded
from worldfs.formats.wire.frames import Json

from .control_client import ControlClient, ControlError
from .node_identity import NodeIdentity

ASK_AGAIN: Final = (1.0, 15.0)  # s between two polls for an approval, from the first to the longest
_DENIED: Final = "pending_join_not_found"
Say = Callable[[str, Json], None]


class JoinDenied(Exception):
    """The operator denied the request, or it is no longer known."""


async def by_invite(control: ControlClient, identity: NodeIdentity, invite: str, name: str, lease_ms: int) -> None:
    """Join by an invite. It works once: the identity is durable before anything else happens."""
    envelope = await control.call(
        "node_join",
        {"invite_token": invite, "node_name": name, "lease_ttl_ms": lease_ms, "platform": node_platform()},
    )
    await _keep(identity, envelope)


async def by_request(control: ControlClient, identity: NodeIdentity, name: str, lease_ms: int, report: Say) -> None:
    """File a request (or go on with the one filed before), and collect the answer once the operator has decided."""
    if not identity.request:
        asked = await control.call("node_join_request", {"node_name": name, "platform": node_platform()})
        await asyncio.to_thread(identity.save, request_id=str(asked["request_id"]), node_name=name)
    report(
        coded("node.waits", request=identity.request),
        {"event": "request", "request_id": identity.request, "node_name": name},
    )
    pause, longest = ASK_AGAIN
    while True:
        try:
            envelope = await control.call(
                "node_join_approve", {"request_id": identity.request, "lease_ttl_ms": lease_ms}
            )
        except ControlError as error:
            if error.code == _DENIED:
                await asyncio.to_thread(identity.save, request_id=None)
                raise JoinDenied("the request was denied, or is no longer known") from None
            if error.code != "forbidden":
                raise
            await asyncio.sleep(pause)
            pause = min(1.5 * pause, longest)
        else:
            return await _keep(identity, envelope)


async def _keep(identity: NodeIdentity, envelope: Json) -> None:
    keys = ("node_id", "node_secret", "lease_token", "lease_expires_at_ms", "node_name")
    said = {key: envelope[key] for key in keys}
    await asyncio.to_thread(lambda: identity.save(**said, request_id=None))


def node_platform() -> Json:
    return {"os": platform.system().lower(), "arch": platform.machine(), "runtime_kind": "worldfs"}
